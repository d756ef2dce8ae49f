// SPDX-License-Identifier: GPL-2.0-or-later
// What stat and metric share: from events and metrics to an open session, and
// to rows of numbers.
#include "common/measure.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "common/event_notes.hpp"

namespace cli {

using uncore::period;
using uncore::scope;

uncore::result<std::vector<const uncore::metric_info *>>
find_metrics(const uncore::topology &machine, const std::string &names)
{
	const auto &known = uncore::catalogue::of(machine);
	std::vector<const uncore::metric_info *> found;
	std::istringstream list(names);
	std::string name;

	std::getline(list, name, ',');
	do {
		// perf's name for the bandwidth of memory
		if (lower(name) == "dram_bw_use")
			name = "mem_bw_total_rate";

		auto group = known.metrics_of_group(name);

		if (const auto *info = known.metric(name))
			group = {info};
		if (group.empty()) {
			auto near = known.nearest_metrics(name);

			return uncore::error{
				uncore::errc::not_found,
				fmt::format("no metric or group of metrics "
					    "'{}'{}{}",
					    name,
					    near.empty() ? ""
							 : "; did you mean ",
					    fmt::join(near, ", "))};
		}
		found.insert(found.end(), group.begin(), group.end());
	} while (std::getline(list, name, ','));
	return found;
}

uncore::count event_row::read(const uncore::session &counts, period when) const
{
	uncore::count all;

	if (parts.empty()) {
		all.enabled = all.running = when == period::interval
						    ? counts.interval_time()
						    : counts.total_time();
		all.raw = all.enabled.count();
		all.value = double(all.raw);
	} else if (when == period::interval) {
		all = counts.interval(sum, 0);
	} else {
		all = counts.total(sum, 0);
	}
	all.value *= kind->scale;
	all.error *= kind->scale;
	return all;
}

uncore::result<void> measurement::add_events(std::string_view text)
{
	auto parsed = uncore::parse_events(text, machine_);

	if (!parsed)
		return parsed.error();
	note_unlisted(*parsed, machine_);
	note_periods(*parsed);
	for (uncore::event_group &group : *parsed) {
		auto placed = planner_.add(group);

		if (!placed)
			return placed.error();
		groups_.push_back(std::move(group));
		places_.push_back(*std::move(placed));
	}
	return {};
}

void measurement::add_metric(const uncore::metric_info &info)
{
	auto ready = uncore::metric::prepare(info, machine_, planner_);

	if (ready)
		metrics_.push_back(*std::move(ready));
	else
		missing_.push_back({&info, ready.error().message});
}

uncore::result<void> measurement::open()
{
	uncore::plan plan = std::move(planner_).finish();

	multiplexes_ = !plan.multiplexed.empty();

	auto opened = uncore::session::open(std::move(plan), machine_,
					    {.visit_packages = true});

	if (!opened)
		return opened.error();
	session_.emplace(*std::move(opened));
	return {};
}

/// Adds an event's counters to the rows of its term, of which there may be some
/// from another PMU already.
void measurement::add_row_parts(std::vector<event_row> &rows,
				const uncore::event_term &term, size_t event,
				uncore::counter_id id, scope where) const
{
	const uncore::event &e = term.events[event];

	for (size_t c = 0; c < session_->cpus(id).size(); c++) {
		int package =
			where == scope::machine ? -1 : session_->package(id, c);
		std::string box =
			where == scope::box && e.pmu ? e.pmu->name : "";
		auto row = std::find_if(
			rows.begin(), rows.end(), [&](const event_row &r) {
				return r.package == package && r.box == box;
			});

		if (row == rows.end())
			row = rows.insert(
				rows.end(),
				{term.name, &e, package, box, {}, {}});
		row->parts.push_back({id, c});
	}
}

std::vector<event_row>
measurement::rows_of(const uncore::event_term &term,
		     const std::vector<uncore::counter_id> &ids,
		     scope where) const
{
	std::vector<event_row> rows;

	for (size_t i = 0; i < ids.size(); i++)
		add_row_parts(rows, term, i, ids[i], where);
	if (rows.empty())
		rows.push_back(
			{term.name, &term.events.front(), -1, "", {}, {}});
	std::stable_sort(rows.begin(), rows.end(),
			 [](const auto &a, const auto &b) {
				 return a.package < b.package;
			 });
	return rows;
}

std::vector<event_row> measurement::rows(scope where)
{
	std::vector<event_row> all;

	for (size_t g = 0; g < groups_.size(); g++)
		for (size_t t = 0; t < groups_[g].terms.size(); t++) {
			auto rows = rows_of(groups_[g].terms[t], places_[g][t],
					    where);

			all.insert(all.end(), rows.begin(), rows.end());
		}
	for (event_row &row : all)
		row.sum = session_->add_up({&row.parts, 1});
	return all;
}

void measurement::watch_metrics(scope where)
{
	for (uncore::metric &m : metrics_)
		m.watch(*session_, where);
}

int measurement::run(const run_options &options,
		     const std::function<bool(bool last)> &print)
{
	uncore::result<void> outcome;
	run_hooks hooks;
	bool printed = true;

	hooks.enable = [&] { return session_->enable(); };
	hooks.tick = [&](bool last) {
		outcome = session_->read();
		if (options.interval_ms || last || !outcome)
			printed = print(last || !outcome);
		return outcome && printed && !last;
	};
	// Scaling is better, and its error known, with some reads in between.
	hooks.read_ms = multiplexes() ? 100 : 0;
	hooks.progress = true;

	auto ended = cli::run(options, hooks);

	if (!ended)
		return fail(ended);
	if (!outcome)
		return fail(outcome.error());
	if (!printed)
		return failure;
	return ended.status();
}

void add_scope(parser &command, scope &where)
{
	const option socket = command.add_flag(
		"--per-socket", [&where] { where = scope::package; },
		"A number for each socket");
	command.add_flag(
		       "--per-box", [&where] { where = scope::box; },
		       "A number for each box of each socket")
		.excludes(socket);
}

std::string percent(double part)
{
	return fmt::format("{:.1f} %", 100 * part);
}

} // namespace cli
