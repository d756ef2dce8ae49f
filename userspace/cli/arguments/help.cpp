// SPDX-License-Identifier: GPL-2.0-or-later
// What people read before they know the command.
#include "arguments/help.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

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
		return "No uncore driver is loaded here: 'uncore check' says "
		       "what to do.";
	return fmt::format("This machine has {} socket{} and {} boxes with "
			   "counters (driver {}).",
			   machine.packages().size(),
			   machine.packages().size() == 1 ? "" : "s", boxes,
			   driver_name(machine.pmus().front().driver));
}

using example = std::pair<const char *, const char *>;

constexpr example tour[] = {
	{"uncore metric memory", "How busy is memory? (or llc, qpi, ...)"},
	{"uncore metric qpi -I 1000", "The same every second"},
	{"uncore stat -M llc ls -l", "Metrics while a command runs"},
	{"uncore stat -e imc/cas_count.rd/", "Events by their names"},
	{"uncore top", "Which tasks cause the traffic?"},
	{"uncore record -e imc/cas_count.rd/ ls", "Which code? See report"},
	{"uncore list memory", "Events and metrics to choose from"},
	{"uncore check", "Is all ready? See also topology"},
};

/// Of a machine with a front-side bus, which has none of these boxes.
constexpr example bus_tour[] = {
	{"uncore metric bus", "How busy is the front-side bus?"},
	{"uncore metric bus -I 1000", "The same every second"},
	{"uncore stat -M l3 ls -l", "Metrics while a command runs"},
	{"uncore stat -e fsb/bus_clocks/", "Events by their names"},
	{"uncore live", "All of it on a terminal"},
	{"uncore list bus", "Events and metrics to choose from"},
	{"uncore check", "Is all ready? See also topology"},
};

} // namespace

int overview(const context &shared)
{
	const auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return fail(machine.error());

	std::span<const example> examples = tour;
	table lines({{""}, {""}});

	if (!machine->match("fsb").empty())
		examples = bus_tour;

	for (const auto &[command, what] : examples)
		lines.add({command, dim(stdout, what)});
	fmt::print("{}\n", fit(machine_line(*machine), columns_of(stdout)));
	lines.print(stdout);
	fmt::print("{}\n",
		   fit("uncore SUBCOMMAND --help has options and examples; man "
		       "uncore has all.",
		       columns_of(stdout)));
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
