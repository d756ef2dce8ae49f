// SPDX-License-Identifier: GPL-2.0-or-later
// The overview that uncore prints without arguments, and insertion of "--".
#include "arguments/help.hpp"

#include <fmt/format.h>

#include <uncore/catalogue.hpp>
#include <uncore/topology.hpp>

#include "catalogue_tables.hpp"
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
	const char *command; ///< {} is the box type
	const char *description;
	/// Role and part of a required box type, or nullptr.
	const char *role = nullptr, *part = nullptr;
};

constexpr example examples[] = {
	{"uncore diagnose", "What limits this machine?"},
	{"uncore metric memory", "How busy is memory? (or llc, pcie, ...)",
	 "memory", "channel"},
	{"uncore metric bus", "How busy is the front-side bus?", "link", "bus"},
	{"uncore metric {} -I 1000", "Links between sockets, every second",
	 "link", "link"},
	{"uncore metric bus -I 1000", "The same every second", "link", "bus"},
	{"uncore stat -M llc ls -l", "Metrics while a command runs", "cache",
	 "slice"},
	{"uncore stat -M l3 ls -l", "Metrics while a command runs", "cache",
	 ""},
	{"uncore stat -e {}/cas_count.rd/", "Events by their names", "memory",
	 "channel"},
	{"uncore stat -e {}/bus_clocks/", "Events by their names", "link",
	 "bus"},
	{"uncore top", "Which tasks cause the traffic?"},
	{"uncore record -e {}/cas_count.rd/ ls", "Which code? See perf report",
	 "memory", "channel"},
	{"uncore list memory", "Events and metrics to choose from", "memory",
	 "channel"},
	{"uncore list bus", "Events and metrics to choose from", "link", "bus"},
	{"uncore check", "Is all ready? See also topology"},
};

/// Write the command of an example for a machine; nothing if the machine lacks the box
/// type.  Without a driver, the processor's catalogue tells which box types there are.
std::optional<std::string> command_of(const example &entry,
				      const uncore::topology &machine)
{
	if (!entry.role)
		return entry.command;

	const std::string_view box =
		uncore::catalogue_tables::of(machine).box_with(entry.role,
							       entry.part);

	if (box.empty() ||
	    (!machine.pmus().empty() && machine.match(box).empty()))
		return std::nullopt;
	return fmt::format(fmt::runtime(entry.command), box);
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
		if (const auto command = command_of(entry, *machine))
			lines.add({*command, dim(stdout, entry.description)});
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
