// SPDX-License-Identifier: GPL-2.0-or-later
// The overview that uncore prints without arguments, and insertion of "--".
#include "arguments/help.hpp"

#include <fmt/format.h>

#include <uncore/catalogue.hpp>
#include <uncore/topology.hpp>

#include "output/machine.hpp"
#include "output/message.hpp"
#include "output/table.hpp"
#include "terminal/colour.hpp"
#include "terminal/layout.hpp"

namespace cli {

namespace {

/// Return whether an option takes a value from the next argument.
bool option_takes_value(const parser &command, const std::string &argument)
{
	const auto option = command.find_option(argument);

	return option && option->takes_value();
}

/// Count the arguments of a subcommand, such as metric's SET, that come before the measured
/// command.
size_t count_own_words(const parser &command)
{
	size_t count = 0;

	for (const option &choice : command.options())
		count += choice.is_positional() && choice.name() != "command";
	return count;
}

std::string machine_line(const uncore::topology &machine)
{
	size_t boxes = 0;

	for (const uncore::pmu_info &pmu : machine.pmus())
		boxes += pmu.cpus.size();
	if (!boxes)
		return "No uncore driver is loaded here: 'uncore check' says what to do.";
	return fmt::format(
		"This machine has {} socket{} and {} boxes with counters (driver {}).",
		machine.packages().size(),
		machine.packages().size() == 1 ? "" : "s", boxes,
		driver_name(machine.pmus().front().driver));
}

struct example {
	const char *command, *description;
	const char *box; ///< required box type, or nullptr
};

constexpr example examples[] = {
	{"uncore metric memory", "How busy is memory? (or llc, pcie, ...)",
	 "imc"},
	{"uncore metric bus", "How busy is the front-side bus?", "fsb"},
	{"uncore metric qpi -I 1000", "Links between sockets, every second",
	 "qpi"},
	{"uncore metric bus -I 1000", "The same every second", "fsb"},
	{"uncore stat -M llc ls -l", "Metrics while a command runs", "cbox"},
	{"uncore stat -M l3 ls -l", "Metrics while a command runs", "gbsq"},
	{"uncore stat -e imc/cas_count.rd/", "Events by their names", "imc"},
	{"uncore stat -e fsb/bus_clocks/", "Events by their names", "fsb"},
	{"uncore top", "Which tasks cause the traffic?", nullptr},
	{"uncore record -e imc/cas_count.rd/ ls", "Which code? See perf report",
	 "imc"},
	{"uncore list memory", "Events and metrics to choose from", "imc"},
	{"uncore list bus", "Events and metrics to choose from", "fsb"},
	{"uncore check", "Is all ready? See also topology", nullptr},
};

/// Return whether the machine has the box type of an example; without a driver,
/// whether the processor's catalogue has the box type.
bool is_usable(const example &entry, const uncore::topology &machine)
{
	if (!entry.box)
		return true;
	if (machine.pmus().empty())
		return uncore::catalogue::of(machine).box(entry.box);
	return !machine.match(entry.box).empty();
}

} // namespace

static void print_wrapped(std::string_view text)
{
	for (const std::string &line : wrap("", text, columns_of(stdout)))
		fmt::print("{}\n", line);
}

int overview(const context &shared)
{
	const auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return fail(machine.error());

	table lines({{""}, {"", table::align::left, true}});

	for (const example &entry : examples)
		if (is_usable(entry, *machine))
			lines.add({entry.command,
				   dim(stdout, entry.description)});
	print_wrapped(machine_line(*machine));
	lines.print(stdout);
	print_wrapped(
		"uncore SUBCOMMAND --help has options and examples; man uncore has all.");
	return success;
}

std::vector<std::string> separate_command(const parser &app,
					  std::vector<std::string> arguments)
{
	std::optional<parser> command;
	size_t remaining_words = 0;

	for (size_t i = 0; i < arguments.size(); i++) {
		const std::string &argument = arguments[i];
		const bool option = argument.size() > 1 && argument[0] == '-';

		if (argument == "--")
			break;
		if (option) {
			i += option_takes_value(command ? *command : app,
						argument);
			continue;
		}
		if (!command) {
			command = app.find_command(argument);
			if (!command || !command->find_option("command"))
				break;
			remaining_words = count_own_words(*command);
			continue;
		}
		if (remaining_words--)
			continue;
		arguments.insert(arguments.begin() + i, "--");
		break;
	}
	return arguments;
}

} // namespace cli
