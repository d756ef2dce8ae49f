// SPDX-License-Identifier: GPL-2.0-or-later
// What stat and metric share: from events and metrics to an open session, and
// to rows of numbers.
#include "counting/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "counting/event_notes.hpp"
#include "output/message.hpp"
#include "terminal/text.hpp"

namespace cli {

using uncore::period;
using uncore::scope;

/// perf's names of metrics that the catalogue has.  The manual names IO by what
/// memory does, perf by what devices do.
static constexpr std::pair<const char *, const char *> perf_metrics[] = {
	{"dram_bw_use", "mem_bw_total_rate"},
	{"memory_bandwidth_read", "mem_bw_reads_rate"},
	{"memory_bandwidth_write", "mem_bw_writes_rate"},
	{"memory_bandwidth_total", "mem_bw_total_rate"},
	{"qpi_data_transmit_bw", "qpi_data_bw_rate"},
	{"io_bandwidth_read", "io_write_bw_rate"},
	{"io_bandwidth_write", "io_read_bw_rate"},
};

uncore::result<std::vector<const uncore::metric_info *>>
find_metrics(const uncore::topology &machine, const std::string &names)
{
	const auto &known = uncore::catalogue::of(machine);
	std::vector<const uncore::metric_info *> found;
	std::istringstream list(names);
	std::string name;

	std::getline(list, name, ',');
	do {
		for (const auto &[perfs, ours] : perf_metrics)
			if (lower(name) == perfs)
				name = ours;

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

	if (parts.empty() && !absent.empty()) {
		all.value = std::nan("");
	} else if (parts.empty()) {
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

/// More of them are hard to tell from the traffic's own changes.
static constexpr unsigned most_turns = 4;

std::string event_row::reason(const uncore::session &counts, period when) const
{
	std::vector<const uncore::box_health *> boxes = absent;

	for (const uncore::counter_at &c : parts)
		boxes.push_back(&counts.health(c.counter, c.cpu_index, when));
	return uncore::reason_of(boxes);
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

/// Lists of metrics that take few turns each.
std::string measurement::split_advice() const
{
	std::vector<std::vector<std::string_view>> sets(1);
	std::vector<const uncore::metric_info *> chosen;

	for (const uncore::metric &m : metrics_) {
		uncore::planner trial(machine_);

		chosen.push_back(&m.info());
		for (const uncore::metric_info *info : chosen)
			(void)uncore::metric::prepare(*info, machine_, trial);
		if (std::move(trial).finish().turns > most_turns &&
		    !sets.back().empty()) {
			sets.emplace_back();
			chosen = {&m.info()};
		}
		sets.back().push_back(m.info().name);
	}
	if (sets.size() < 2 || !groups_.empty())
		return "count fewer at once, or for longer";

	std::vector<std::string> lists;

	for (const auto &set : sets)
		lists.push_back(fmt::format("-M {}", fmt::join(set, ",")));
	return fmt::format("count them apart ({}), or for longer",
			   fmt::join(lists, "; "));
}

uncore::result<void> measurement::open(const std::vector<int> &packages)
{
	uncore::plan plan = std::move(planner_).finish();

	if (plan.turns > most_turns)
		note(fmt::format("{} groups of events are multiplexed, so that "
				 "each counts for 1/{} of the time: {}",
				 plan.turns, plan.turns, split_advice()));

	auto opened = uncore::session::open(
		std::move(plan), machine_,
		{.visit_packages = true, .packages = packages});

	if (!opened)
		return opened.error();
	session_.emplace(*std::move(opened));
	report_news();
	return {};
}

/// Boxes and CPUs that are lost end no run: the others go on.
void measurement::report_news()
{
	for (const std::string &line : session_->news())
		note(line);
}

/// The row of a term for a box of a package, of which there may be one from
/// another PMU already.
event_row &measurement::row_at(std::vector<event_row> &rows,
			       const uncore::event_term &term, size_t event,
			       int package, scope where) const
{
	const uncore::event &e = term.events[event];
	const std::string box = where == scope::box && e.pmu ? e.pmu->name : "";

	if (where == scope::machine)
		package = -1;

	const auto row =
		std::find_if(rows.begin(), rows.end(), [&](const event_row &r) {
			return r.package == package && r.box == box;
		});

	if (row != rows.end())
		return *row;
	return *rows.insert(rows.end(),
			    {term.name, &e, package, box, {}, {}, {}});
}

/// Adds an event's counters to the rows of its term, and its boxes that have
/// none.
void measurement::add_row_parts(std::vector<event_row> &rows,
				const uncore::event_term &term, size_t event,
				uncore::counter_id id, scope where) const
{
	for (size_t c = 0; c < session_->cpus(id).size(); c++)
		row_at(rows, term, event, session_->package(id, c), where)
			.parts.push_back({id, c});
	for (const uncore::box_health &box : session_->health(period::total))
		if (box.pmu && box.pmu == term.events[event].pmu &&
		    box.condition == uncore::condition::absent)
			row_at(rows, term, event, box.package, where)
				.absent.push_back(&box);
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
			{term.name, &term.events.front(), -1, "", {}, {}, {}});
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

/// How long other programs' events may share the counters unnoticed: not for
/// long at the beginning, where there are few reads.
static constexpr std::chrono::nanoseconds first_pause =
	std::chrono::milliseconds(5);
static constexpr std::chrono::nanoseconds longest_pause =
	std::chrono::seconds(1);

/// What is lost is in the session's news.
static uncore::result<void> without_gone(uncore::result<void> outcome)
{
	if (!outcome && outcome.error().code == uncore::errc::gone)
		return {};
	return outcome;
}

int measurement::run(const run_options &options,
		     const std::function<bool(bool last)> &print)
{
	uncore::result<void> outcome;
	run_hooks hooks;
	bool printed = true;

	hooks.enable = [&] { return session_->enable(); };
	// Scaling is better, and its error known, with some reads in between.
	hooks.sample = [&, pause = first_pause]() mutable {
		outcome = without_gone(session_->sample());
		report_news();

		const auto turns = session_->sample_time();

		if (turns.count())
			return turns;
		pause = std::min(2 * pause, longest_pause);
		return pause;
	};
	hooks.tick = [&](bool last) {
		outcome = without_gone(session_->read());
		report_news();
		if (options.interval_ms || last || !outcome)
			printed = print(last || !outcome);
		return outcome && printed && !last;
	};
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

} // namespace cli
