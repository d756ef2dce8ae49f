// SPDX-License-Identifier: GPL-2.0-or-later
// Columns of uncore top, from events, presets and metrics.
#include "attribution/top_columns.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include <uncore/catalogue.hpp>
#include <uncore/event.hpp>

#include "catalogue_tables.hpp"
#include "counting/event_notes.hpp"
#include "counting/metric_files.hpp"
#include "output/message.hpp"

namespace cli {

using uncore::preset;

/// Find the preset with a name, of a box type of the machine if there is one; nullptr if
/// no preset has this name.
static const preset *find_preset(std::string_view name,
				 const uncore::topology &machine)
{
	const auto &catalogue = uncore::catalogue::of(machine);
	const preset *elsewhere = nullptr;

	for (const preset &entry : preset::all)
		if (entry.name == name) {
			if (catalogue.box(entry.box))
				return &entry;
			if (!elsewhere)
				elsewhere = &entry;
		}
	return elsewhere;
}

/// Find the preset for a machine without a choice of events.
static const preset *default_preset(const uncore::topology &machine)
{
	const preset *first = nullptr;

	for (const preset &entry : preset::all)
		if (entry.is_default) {
			if (!machine.match(entry.box).empty())
				return &entry;
			if (!first)
				first = &entry;
		}
	return first;
}

std::string reads_and_writes(const uncore::topology &machine)
{
	const preset *memory = find_preset("memory", machine);

	return fmt::format(
		"{0}/cas_count.rd,name=read/,{0}/cas_count.wr,name=write/",
		memory ? memory->box : "imc");
}

std::string default_events(const uncore::topology &machine)
{
	const preset *entry = default_preset(machine);

	return entry ? std::string(entry->event) : std::string();
}

std::string describe_presets()
{
	std::vector<std::string_view> names;
	std::string list;

	for (const preset &entry : preset::all) {
		if (std::find(names.begin(), names.end(), entry.name) !=
		    names.end())
			continue;
		names.push_back(entry.name);
		list += fmt::format("{}{} ({})", list.empty() ? "" : ", ",
				    entry.name, entry.help);
	}
	return list;
}

/// Replace the names of presets in a list of names without a slash.
static std::string with_presets(std::string_view text,
				const uncore::topology &machine)
{
	std::string list;

	while (!text.empty()) {
		std::string_view name = text.substr(0, text.find(','));

		text.remove_prefix(std::min(name.size() + 1, text.size()));
		if (const preset *entry = find_preset(name, machine))
			name = entry->event;
		list += list.empty() ? "" : ",";
		list += name;
	}
	return list;
}

/// Join the texts of all -e to a list of events.  A text without a slash is a list of
/// presets.
static std::string event_list(const std::vector<std::string> &texts,
			      const uncore::topology &machine)
{
	std::string list;

	for (const auto &text : texts) {
		bool events = text.find('/') != std::string::npos;

		list += list.empty() ? "" : ",";
		list += events ? text : with_presets(text, machine);
	}
	return list;
}

namespace {

/// Builds the columns of the table: a shown column for each event of the command
/// line, in its order, and a hidden column for each further event that a metric needs.
/// An event that several metrics need has one column.
class columns {
public:
	columns(const uncore::topology &machine,
		std::vector<attribution_column> &counted, top_settings &shown)
		: machine_(machine), counted_(counted), shown_(shown)
	{
	}

	uncore::result<void> add_events(const std::string &list);
	uncore::result<void> add_metrics(const std::vector<std::string> &lists);

private:
	uncore::result<void> add_metric(const uncore::metric_info &info);
	size_t count(const uncore::event_term &term, bool hidden);
	uncore::result<top_metric::operand>
	operand_of(const uncore::expression::term &operand);
	std::vector<double> sources_of(const attribution_column &column) const;

	const uncore::topology &machine_;
	std::vector<attribution_column> &counted_;
	top_settings &shown_;
	std::map<std::string, size_t> by_text_; ///< column by the event's text
};

} // namespace

/// Add a column for a term: an event string, and its events on all boxes that it
/// names.  They have one scale and unit.
/// @return the index of the column.
size_t columns::count(const uncore::event_term &term, bool hidden)
{
	const uncore::event &first = term.events.front();

	counted_.push_back({term.name, term.events});
	shown_.columns.push_back({term.name, first.scale, first.unit, hidden});
	by_text_.emplace(term.text, counted_.size() - 1);
	return counted_.size() - 1;
}

static uncore::result<void> must_not_sample(const uncore::event_term &term)
{
	if (!term.events.front().sample_period)
		return {};
	return uncore::error{
		uncore::errc::invalid,
		term.text + ": a period is for sampling (uncore record)"};
}

uncore::result<void> columns::add_events(const std::string &list)
{
	auto groups = uncore::parse_events(list, machine_);

	if (!groups)
		return groups.error();
	note_unlisted(*groups, machine_);
	for (const auto &group : *groups)
		for (const auto &term : group.terms) {
			auto outcome = must_not_sample(term);

			if (!outcome)
				return outcome;
			if (is_shown(shown_, term.name))
				return uncore::error{uncore::errc::invalid,
						     term.name +
							     ": given twice"};
			count(term, false);
		}
	return {};
}

/// Get the number of a column's counters in each package.
std::vector<double> columns::sources_of(const attribution_column &column) const
{
	std::vector<double> sources;

	for (const auto &package : machine_.packages()) {
		auto in_package = [&](int cpu) {
			return machine_.package_of(cpu) == package.id;
		};

		sources.push_back(std::count_if(
			column.events.begin(), column.events.end(),
			[&](const uncore::event &e) {
				return std::any_of(e.pmu->cpus.begin(),
						   e.pmu->cpus.end(),
						   in_package);
			}));
	}
	return sources;
}

uncore::result<top_metric::operand>
columns::operand_of(const uncore::expression::term &operand)
{
	if (operand.name == "duration_time")
		return top_metric::operand{};

	auto groups = uncore::parse_events(operand.name, machine_);

	if (!groups)
		return groups.error();
	if (groups->size() != 1 || groups->front().terms.size() != 1)
		return uncore::error{
			uncore::errc::invalid,
			fmt::format("'{}' is not one event", operand.name)};

	const uncore::event_term &term = groups->front().terms.front();

	if (!term.events.front().pmu)
		return uncore::error{
			uncore::errc::unsupported,
			fmt::format(
				"needs {}, which the cores count: only the boxes' counts can be divided",
				operand.name)};

	auto entry = by_text_.find(term.text);
	size_t column =
		entry == by_text_.end() ? count(term, true) : entry->second;

	return top_metric::operand{column, sources_of(counted_[column])};
}

uncore::result<void> columns::add_metric(const uncore::metric_info &info)
{
	auto parsed = uncore::expression::parse(info.expression);

	if (is_shown(shown_, info.name))
		return uncore::error{uncore::errc::invalid,
				     fmt::format("{}: given twice", info.name)};
	if (!parsed)
		return parsed.error();

	top_metric metric{std::string(info.name),
			  *parsed,
			  {},
			  info.scale,
			  std::string(info.unit)};

	for (const auto &term : parsed->terms()) {
		auto operand = operand_of(term);

		if (!operand)
			return uncore::error{
				operand.error().code,
				fmt::format("{}: {}", info.name,
					    operand.error().message)};
		metric.operands.push_back(*std::move(operand));
	}
	shown_.metrics.push_back(std::move(metric));
	return {};
}

/// Add metrics of the catalogue and of the user's files.
uncore::result<void>
columns::add_metrics(const std::vector<std::string> &lists)
{
	const metric_files files(machine_);

	for (const std::string &problem : files.problems())
		note(problem);
	for (const std::string &names : lists) {
		const auto infos = files.metrics().find(names);

		if (!infos)
			return infos.error();
		for (const uncore::metric_info *info : *infos)
			if (auto added = add_metric(*info); !added)
				return added;
	}
	return {};
}

uncore::result<void> add_columns(const std::vector<std::string> &events,
				 const std::vector<std::string> &metrics,
				 const uncore::topology &machine,
				 std::vector<attribution_column> &counted,
				 top_settings &shown)
{
	columns builder(machine, counted, shown);
	std::string list = event_list(events, machine);

	if (list.empty() && metrics.empty())
		list = default_events(machine);
	if (!list.empty()) {
		auto added = builder.add_events(list);

		if (!added)
			return added;
	}
	return metrics.empty() ? uncore::result<void>()
			       : builder.add_metrics(metrics);
}

} // namespace cli
