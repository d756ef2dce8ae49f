// SPDX-License-Identifier: GPL-2.0-or-later
// What people read before they know the command.
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

/// Does that option want a value in the next argument?
bool wants_value(const parser &command, const std::string &argument)
{
	const auto option = command.find_option(argument);

	return option && option->takes_value();
}

/// How many of a subcommand's own words come before the user's command.
size_t own_words(const parser &command)
{
	size_t n = 0;

	for (const option &one : command.options())
		n += one.is_positional() && one.name() != "command";
	return n;
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
	const char *box; ///< the box type that it needs, or nullptr
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

/// Without a driver the processor's catalogue has the box types.
bool works_here(const example &shown, const uncore::topology &machine)
{
	if (!shown.box)
		return true;
	if (machine.pmus().empty())
		return uncore::catalogue::of(machine).box(shown.box);
	return !machine.match(shown.box).empty();
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

	for (const example &one : examples)
		if (works_here(one, *machine))
			lines.add({one.command, dim(stdout, one.description)});
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
	size_t words = 0;

	for (size_t i = 0; i < arguments.size(); i++) {
		const std::string &one = arguments[i];
		const bool option = one.size() > 1 && one[0] == '-';

		if (one == "--")
			break;
		if (option) {
			i += wants_value(command ? *command : app, one);
			continue;
		}
		if (!command) {
			command = app.find_command(one);
			if (!command || !command->find_option("command"))
				break;
			words = own_words(*command);
			continue;
		}
		if (words--)
			continue;
		arguments.insert(arguments.begin() + i, "--");
		break;
	}
	return arguments;
}

} // namespace cli
