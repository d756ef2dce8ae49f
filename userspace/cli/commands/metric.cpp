// SPDX-License-Identifier: GPL-2.0-or-later
// uncore metric: counts a group of metrics that answers a question, as stat -M
// does, and prints a table.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/commands.hpp"
#include "counting/count_printer.hpp"
#include "output/message.hpp"
#include "text.hpp"

namespace cli {

namespace {

using uncore::metric_group;

struct metric_options {
	std::string set;
	bool all = false, per_box = false;
	count_options count;
};

std::vector<std::string_view> set_names()
{
	std::vector<std::string_view> names;

	for (const metric_group &set : metric_group::all)
		names.push_back(set.name);
	return names;
}

int unknown_set(const std::string &name)
{
	const auto suggestions = uncore::nearest_names(name, set_names(), 1);

	return fail_usage(fmt::format(
		"no set of metrics '{}'{}; there are {} (uncore stat -M takes single metrics)",
		name,
		suggestions.empty() ? ""
				    : fmt::format(": did you mean {}?",
						  suggestions.front()),
		fmt::join(set_names(), ", ")));
}

uncore::error no_metric_of(const metric_group &set,
			   const uncore::topology &machine)
{
	const auto &catalogue = uncore::catalogue::of(machine);
	std::vector<std::string_view> names;

	for (const metric_group &group : metric_group::all)
		if (!group.leading_of(catalogue).empty())
			names.push_back(group.name);
	return {uncore::errc::unsupported,
		fmt::format("{} has no metric of the set '{}' (its sets: {})",
			    machine.generation(), set.name,
			    fmt::join(names, ", "))};
}

uncore::result<void> add_set(measurement &counts, const metric_group &set,
			     bool all)
{
	const uncore::topology &machine = counts.counters().machine();
	const auto leading = set.leading_of(uncore::catalogue::of(machine));

	if (leading.empty())
		return no_metric_of(set, machine);
	if (all)
		return counts.add_metrics(set.name);
	for (const uncore::metric_info *info : leading)
		counts.add_metric(*info);
	return {};
}

int metric(const context &shared, metric_options &options)
{
	const metric_group *set = metric_group::find(options.set);

	if (!set)
		return unknown_set(options.set);
	return count(shared, options.count,
		     {.scope = options.per_box ? uncore::scope::box
					       : uncore::scope::machine,
		      .table = set},
		     [&](measurement &counts) {
			     return add_set(counts, *set, options.all);
		     });
}

} // namespace

void add_metric(parser &app, context &shared)
{
	const std::string names =
		fmt::format("{}", fmt::join(set_names(), ", "));
	auto options = std::make_shared<metric_options>();
	parser command = add_command(
		app, shared, "metric",
		("Answer one question: " + names).c_str(),
		[options, &shared] { return metric(shared, *options); });

	add_examples(command, "uncore metric memory",
		     "uncore metric qpi --per-box make -j");
	command.add_option("set", options->set, names)
		.required()
		.type_name("SET");
	command.add_flag("--all", options->all,
			 "All metrics of the set, as of stat -M SET");
	command.add_flag("--per-box", options->per_box,
			 "A line for each box of each socket");
	add_count_options(command, options->count);
	add_format(command, options->count.form);
}

} // namespace cli
