// SPDX-License-Identifier: LGPL-2.1-or-later
// Metrics that a program defines.  The names of other metrics in an expression
// are replaced by these metrics' formulas, so that the engine counts such a
// metric like one of the catalogue.
#include <uncore/own_metrics.hpp>

#include <algorithm>
#include <deque>
#include <optional>

#include <uncore/counter_set.hpp>
#include <uncore/event.hpp>

#include "expression.hpp"
#include "format.hpp"
#include "metric.hpp"
#include "text.hpp"

namespace uncore {

/// Limit of metrics that are defined by one another.
static constexpr unsigned most_depth = 100;

struct own_metrics::state {
	/// A definition, and the metric that it makes.
	struct entry {
		metric_definition definition;
		std::string expression{}, weight{}; ///< with events only
		std::vector<std::string_view> groups{};
		metric_info info{};
		std::optional<result<void>>
			outcome{};    ///< none before resolve()
		bool is_open = false; ///< is being resolved
	};

	explicit state(const topology &on) : machine(on) {}

	topology machine;
	std::deque<entry> entries;
	unsigned depth = 0; ///< metrics that are being resolved

	entry *find(std::string_view name);
	result<void> check_name(const entry &own) const;
	result<void> resolve(entry &own);
	result<void> resolve_names(entry &own);
	result<std::string> formula_of(const expression::term &term,
				       entry &own);
	result<void> complete(entry &own) const;
	std::string_view box_of(const expression &formula) const;
	result<std::vector<const metric_info *>>
	matches(std::string_view name) const;
};

/// Find the first definition of a name.
own_metrics::state::entry *own_metrics::state::find(std::string_view name)
{
	for (entry &own : entries)
		if (same_name(own.definition.name, name))
			return &own;
	return nullptr;
}

static bool is_name(std::string_view name)
{
	return !name.empty() && name.size() <= 60 && !is_digit(name.front()) &&
	       name.front() != '.' &&
	       std::all_of(name.begin(), name.end(),
			   [](char c) { return is_word(c) || c == '.'; });
}

/// Check that a name is free, on machines of all generations: a metric's name
/// then has one meaning in scripts and in saved files.
result<void> own_metrics::state::check_name(const entry &own) const
{
	static constexpr std::string_view words[] = {
		"if", "else", "min", "max", "d_ratio", "source_count"};
	const std::string &name = own.definition.name;
	const auto taken = [&name](std::string_view by) {
		return error{
			errc::conflict,
			uncore::format("{} is the name of {}: choose another",
				       quote(name), by)};
	};

	if (!is_name(name))
		return error{
			errc::invalid,
			uncore::format(
				"{} is not a name of a metric: it has up to 60 letters, digits, _ and ., and begins with a letter or _",
				quote(name))};
	for (const std::string_view word : words)
		if (same_name(word, name))
			return taken("a function");
	for (const std::string_view generation : catalogue::generations())
		if (catalogue::find(generation)->metric(name))
			return taken("a metric of the catalogue");
	if (find_metrics(machine, name))
		return taken("a metric or a group of the catalogue");
	if (parse_events(name, machine))
		return taken("an event");
	return {};
}

/// Return the formula that a name stands for; "" for the name of an event.
result<std::string> own_metrics::state::formula_of(const expression::term &term,
						   entry &own)
{
	if (term.is_event)
		return std::string();
	if (term.name.starts_with('#') && !metric::defines(term.name))
		return error{errc::not_found,
			     uncore::format("{} is not known here, only {}",
					    quote(term.name),
					    metric::defined_names())};

	std::string_view weight;
	std::string formula;

	if (entry *other = find(term.name)) {
		if (other->is_open)
			return error{
				errc::conflict,
				uncore::format(
					"{} is defined by itself, through {}: write one of them with events only",
					quote(own.definition.name),
					quote(other->definition.name))};
		if (auto outcome = resolve(*other); !outcome)
			return error{outcome.error().code,
				     uncore::format("its {}: {}",
						    quote(term.name),
						    outcome.error().message)};
		formula = other->expression;
		weight = other->weight;
	} else if (const metric_info *info =
			   catalogue::of(machine).metric(term.name)) {
		formula = info->expression;
		weight = info->weight;
	}
	if (own.weight.empty())
		own.weight = weight;
	return formula;
}

result<void> own_metrics::state::resolve_names(entry &own)
{
	auto resolved = expression::substitute(
		own.definition.expression, [&](const expression::term &term) {
			return formula_of(term, own);
		});

	if (!resolved)
		return resolved.error();
	own.expression = *std::move(resolved);
	if (!own.definition.weight.empty())
		own.weight = own.definition.weight;
	return {};
}

/// Return the box type of the first event; "" for none.
std::string_view own_metrics::state::box_of(const expression &formula) const
{
	for (const expression::term &term : formula.terms()) {
		const std::string_view pmu = cut(term.name, '/').first;
		const auto pmus = machine.match(pmu);

		if (term.is_event && !pmus.empty())
			return pmus.front()->box;
	}
	return {};
}

/// Make the metric of a resolved definition.
result<void> own_metrics::state::complete(entry &own) const
{
	const metric_definition &words = own.definition;
	const auto formula = expression::parse(own.expression);

	if (!formula)
		return formula.error();
	if (auto checked = formula->check(); !checked)
		return checked;
	if (formula->terms().empty())
		return error{
			errc::invalid,
			"it is the same number always: an event is missing"};
	if (const auto weight = expression::parse(own.weight);
	    !weight && !own.weight.empty())
		return weight.error();
	for (const std::string &group : words.groups)
		own.groups.push_back(group);
	own.info = {.name = words.name,
		    .box = box_of(*formula),
		    .expression = own.expression,
		    .description = words.description,
		    .note = words.note,
		    .section = {},
		    .scale = words.scale,
		    .unit = words.unit,
		    .groups = own.groups,
		    .one_group = false,
		    .low = words.low,
		    .high = words.high,
		    .weight = own.weight};
	return {};
}

/// Resolve a definition, and those of the metrics in it, once.
result<void> own_metrics::state::resolve(entry &own)
{
	if (own.outcome)
		return *own.outcome;
	own.is_open = true;

	result<void> outcome = check_name(own);

	if (outcome && find(own.definition.name) != &own)
		outcome = error{
			errc::conflict,
			uncore::format(
				"{} is defined before: choose another name",
				quote(own.definition.name))};
	if (outcome && depth == most_depth)
		outcome = error{
			errc::invalid,
			uncore::format(
				"it is defined by more than {} metrics in turn",
				most_depth)};
	depth++;
	if (outcome)
		outcome = resolve_names(own);
	depth--;
	if (outcome)
		outcome = complete(own);
	own.is_open = false;
	own.outcome = outcome;
	return outcome;
}

/// Find the metric of a name, or all metrics of a group, the catalogue's first.
result<std::vector<const metric_info *>>
own_metrics::state::matches(std::string_view name) const
{
	std::vector<const metric_info *> metrics;
	std::vector<std::string_view> names;
	auto catalogued = find_metrics(machine, name);

	if (catalogued)
		metrics = *catalogued;
	for (const entry &own : entries) {
		if (same_name(own.definition.name, name)) {
			if (!*own.outcome)
				return own.outcome->error();
			return std::vector<const metric_info *>{&own.info};
		}
		names.push_back(own.definition.name);
		if (*own.outcome &&
		    std::any_of(own.groups.begin(), own.groups.end(),
				[name](std::string_view group) {
					return same_name(group, name);
				}))
			metrics.push_back(&own.info);
	}
	if (!metrics.empty())
		return metrics;
	if (const auto near = nearest_names(name, names, 3); !near.empty())
		return error{
			errc::not_found,
			uncore::format(
				"no metric or group of metrics {}; the nearest: {}",
				quote(name), join(near))};
	return catalogued.error();
}

own_metrics::own_metrics(const topology &machine,
			 std::vector<metric_definition> definitions)
{
	auto resolved = std::make_shared<state>(machine);

	for (metric_definition &words : definitions)
		resolved->entries.push_back({std::move(words)});
	for (state::entry &own : resolved->entries)
		(void)resolved->resolve(own);
	state_ = std::move(resolved);
}

size_t own_metrics::size() const
{
	return state_->entries.size();
}

const metric_definition &own_metrics::definition(size_t index) const
{
	return state_->entries[index].definition;
}

result<const metric_info *> own_metrics::metric(size_t index) const
{
	const state::entry &own = state_->entries[index];

	if (!*own.outcome)
		return own.outcome->error();
	return &own.info;
}

result<std::vector<const metric_info *>>
own_metrics::find(std::string_view list) const
{
	std::vector<const metric_info *> metrics;

	for (const std::string_view written : split(list, ',')) {
		auto matches = state_->matches(trim(written));

		if (!matches)
			return matches.error();
		metrics.insert(metrics.end(), matches->begin(), matches->end());
	}
	return metrics;
}

} // namespace uncore
