// SPDX-License-Identifier: GPL-2.0-or-later
// Columns of uncore top, from events, presets and metrics.
#include "attribution/top_columns.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include <uncore/counter_set.hpp>
#include <uncore/event.hpp>

#include "counting/event_notes.hpp"

namespace cli {

/// A short name for the command line, and the event that replaces it.
struct preset {
	std::string_view name, events;
};
static constexpr preset presets[] = {
	{"memory", "imc/cas_count.all,name=memory/"},
	{"bus", "fsb/transactions,name=bus/"},
	{"llc", "cbox/llc_lookup.any,filter_state=i,name=llc/"},
	{"qpi", "qpi/txl_flits_g0.data,name=qpi/"},
};

/// Replace the names of presets in a list of names without a slash.
static std::string with_presets(std::string_view text)
{
	std::string list;

	while (!text.empty()) {
		std::string_view name = text.substr(0, text.find(','));

		text.remove_prefix(std::min(name.size() + 1, text.size()));
		for (const auto &p : presets)
			if (p.name == name)
				name = p.events;
		list += list.empty() ? "" : ",";
		list += name;
	}
	return list;
}

/// Join the texts of all -e to a list of events.  A text without a slash is a list of
/// presets.
static std::string event_list(const std::vector<std::string> &texts)
{
	std::string list;

	for (const auto &text : texts) {
		bool events = text.find('/') != std::string::npos;

		list += list.empty() ? "" : ",";
		list += events ? text : with_presets(text);
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
	uncore::result<void> add_metric(const uncore::metric_info &info);

private:
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

uncore::result<void> add_columns(const std::vector<std::string> &events,
				 const std::vector<std::string> &metrics,
				 const uncore::topology &machine,
				 std::vector<attribution_column> &counted,
				 top_settings &shown)
{
	columns builder(machine, counted, shown);
	std::string list = event_list(events);

	if (list.empty() && metrics.empty())
		list = with_presets(machine.match("fsb").empty() ? "memory"
								 : "bus");
	if (!list.empty()) {
		auto added = builder.add_events(list);

		if (!added)
			return added;
	}
	for (const std::string &names : metrics) {
		auto infos = uncore::find_metrics(machine, names);

		if (!infos)
			return infos.error();
		for (const auto *info : *infos) {
			auto added = builder.add_metric(*info);

			if (!added)
				return added;
		}
	}
	return {};
}

} // namespace cli
