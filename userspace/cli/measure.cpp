// SPDX-License-Identifier: GPL-2.0-or-later
// What stat and metric share: from events and metrics to an open session, and
// to rows of numbers.
#include "measure.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

namespace cli {

using uncore::period;
using uncore::scope;

uncore::result<std::vector<const uncore::metric_info *>>
find_metrics(const uncore::topology &machine, const std::string &names)
{
	const auto *known = uncore::catalogue::find(machine.generation());
	std::vector<const uncore::metric_info *> found;

	if (!known)
		known = &uncore::catalogue::standard();
	for (const std::string &name : CLI::detail::split(names, ',')) {
		auto group = known->metrics_of_group(name);

		if (const auto *info = known->metric(name))
			group = {info};
		if (group.empty()) {
			auto near = known->nearest_metrics(name);

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
	}
	return found;
}

uncore::count event_row::read(const uncore::session &counts, period when) const
{
	uncore::count sum;

	if (parts.empty()) {
		sum.enabled = sum.running = when == period::interval
						    ? counts.interval_time()
						    : counts.total_time();
		sum.raw = sum.enabled.count();
		sum.value = double(sum.raw);
	}
	for (const part &p : parts)
		sum += when == period::interval
			       ? counts.interval(p.counter, p.cpu_index)
			       : counts.total(p.counter, p.cpu_index);
	sum.value *= kind->scale;
	sum.error *= kind->scale;
	return sum;
}

uncore::result<void> measurement::add_events(std::string_view text)
{
	auto parsed = uncore::parse_events(text, machine_);

	if (!parsed)
		return parsed.error();
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
	plan_ = std::move(planner_).finish();

	auto opened = uncore::session::open(plan_, machine_);

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
			row = rows.insert(rows.end(),
					  {term.name, &e, package, box, {}});
		row->parts.push_back({id, c});
	}
}

std::vector<event_row> measurement::rows(scope where) const
{
	std::vector<event_row> all;

	for (size_t g = 0; g < groups_.size(); g++)
		for (size_t t = 0; t < groups_[g].terms.size(); t++) {
			const uncore::event_term &term = groups_[g].terms[t];
			std::vector<event_row> rows;

			for (size_t i = 0; i < places_[g][t].size(); i++)
				add_row_parts(rows, term, i, places_[g][t][i],
					      where);
			if (rows.empty())
				rows.push_back({term.name,
						&term.events.front(),
						-1,
						"",
						{}});
			std::stable_sort(rows.begin(), rows.end(),
					 [](const auto &a, const auto &b) {
						 return a.package < b.package;
					 });
			all.insert(all.end(), rows.begin(), rows.end());
		}
	return all;
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

	auto ended = cli::run(options, hooks);

	if (!ended)
		return fail(ended.error());
	if (!outcome)
		return fail(outcome.error());
	if (!printed)
		return failure;
	return *ended;
}

void add_scope(CLI::App &command, scope &where)
{
	CLI::Option *socket = command.add_flag_callback(
		"--per-socket", [&where] { where = scope::package; },
		"A number for each socket");
	command.add_flag_callback(
		       "--per-box", [&where] { where = scope::box; },
		       "A number for each box of each socket")
		->excludes(socket);
}

uncore::result<void> sink::open(const std::string &path)
{
	if (path.empty())
		return {};
	file_ = std::fopen(path.c_str(), "we");
	if (!file_) {
		file_ = stdout;
		return uncore::error{
			uncore::errc::system,
			fmt::format("{}: {}", path, std::strerror(errno))};
	}
	return {};
}

sink::~sink()
{
	if (file_ != stdout)
		std::fclose(file_);
}

bool sink::write(std::string_view text)
{
	return std::fwrite(text.data(), 1, text.size(), file_) == text.size() &&
	       !std::fflush(file_);
}

std::string percent(double part)
{
	return fmt::format("{:.1f} %", 100 * part);
}

} // namespace cli
