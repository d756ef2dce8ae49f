// SPDX-License-Identifier: GPL-2.0-or-later
#include "attribution/share_counts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "output/number.hpp"

namespace cli {

using uncore::period;
using kind = counted_tasks::kind;

/// Time after which a cgroup whose path is still unknown is taken for removed.
/// cgroup_names finds the path of an existing cgroup within a second.
static constexpr std::chrono::seconds longest_wait{3};

static uint64_t to_whole(fixed_count count)
{
	constexpr fixed_count half = static_cast<fixed_count>(1)
				     << (fixed_bits - 1);

	return static_cast<uint64_t>((count + half) >> fixed_bits);
}

static fixed_count sum(const std::vector<fixed_count> &counts)
{
	fixed_count result = 0;

	for (const fixed_count count : counts)
		result += count;
	return result;
}

share_counts::share_counts(const share_plan &plan,
			     const uncore::topology &machine,
			     const std::vector<int> &sockets,
			     cgroup_names &names)
	: plan_(plan), machine_(machine), names_(names)
{
	for (const uncore::package &package : machine.packages())
		chosen_.push_back(
			sockets.empty() ||
			std::count(sockets.begin(), sockets.end(), package.id));
	for (const attribution_column &column : plan.columns) {
		std::vector<unsigned> &counters = counters_.emplace_back();

		for (const uncore::package &package : machine.packages())
			counters.push_back(std::count_if(
				column.events.begin(), column.events.end(),
				[&](const uncore::event &event) {
					const auto &cpus = event.pmu->cpus;

					return std::any_of(
						cpus.begin(), cpus.end(),
						[&](int cpu) {
							return machine.package_of(
								       cpu) ==
							       package.id;
						});
				}));
	}
	// A cgroup that is removed during an account has counts in the account,
	// but its path can then no longer be found.  Record the paths now.
	for (const counted_tasks &tasks : plan.tasks)
		if (!tasks.path.empty() && tasks.path != "/")
			names.remember(tasks.path);
	interval_ = total_ = empty_sums();
	all_ = removed_ = other_ = empty_amount();
}

share_counts::amount share_counts::empty_amount() const
{
	return {std::vector(plan_.columns.size(),
			    std::vector<fixed_count>(chosen_.size())),
		std::vector<uint64_t>(chosen_.size())};
}

share_counts::sums share_counts::empty_sums() const
{
	return {std::vector(plan_.tasks.size(), empty_amount()), 0};
}

void share_counts::add(amount &sum, const amount &part)
{
	for (size_t p = 0; p < sum.ns.size(); p++) {
		sum.ns[p] += part.ns[p];
		for (size_t c = 0; c < sum.counts.size(); c++)
			sum.counts[c][p] += part.counts[c][p];
	}
}

/// Add counts to the plan's sets of tasks of a kind.
void share_counts::add(kind type, const amount &part)
{
	for (size_t i = 0; i < plan_.tasks.size(); i++)
		if (plan_.tasks[i].type == type)
			for (sums *sum : {&interval_, &total_})
				add(sum->tasks[i], part);
}

void share_counts::begin_interval()
{
	interval_ = empty_sums();
}

static fixed_count fixed(uint64_t count)
{
	return static_cast<fixed_count>(count) << fixed_bits;
}

/// Add the counts and times of whole packages, their idle counts, and the counts of
/// tasks for which attribution had no room (other_).
void share_counts::add_packages(const account &account)
{
	amount all = empty_amount(), idle = all, other = all;
	double seconds = 0;

	for (size_t p = 0; p < chosen_.size(); p++) {
		const package_account &package = account.packages[p];

		seconds = std::max(seconds, package.ns / 1e9);
		all.ns[p] = package.ns;
		idle.ns[p] = package.idle_ns;
		other.ns[p] = package.other_ns;
		for (size_t c = 0; c < plan_.columns.size(); c++) {
			all.counts[c][p] = fixed(package.totals[c]);
			idle.counts[c][p] = fixed(package.idle[c]);
			other.counts[c][p] = package.other[c];
		}
	}
	interval_.seconds += seconds;
	total_.seconds += seconds;
	add(kind::all, all);
	add(kind::idle, idle);
	add(kind::others, other);
	add(all_, all);
	add(other_, other);
}

/// Add the counts of a cgroup to each set of tasks of the plan that is the cgroup or its
/// ancestor.
void share_counts::charge(uint64_t cgroup, const amount &part)
{
	const std::string &path = names_.path(cgroup);
	bool is_command = false;

	for (size_t i = 0; i < plan_.tasks.size(); i++) {
		const counted_tasks &tasks = plan_.tasks[i];

		if (tasks.path.empty() || tasks.type == kind::all ||
		    !is_within(path, tasks.path))
			continue;
		is_command = true;
		add(interval_.tasks[i], part);
		add(total_.tasks[i], part);
	}
	if (!is_command)
		add(kind::others, part);
}

/// Add the counts in waiting_ whose cgroup has a path by now to the plan's sets of
/// tasks, and counts of removed cgroups to removed_.  @param last: no path comes any
/// more.
void share_counts::charge_waiting(bool last)
{
	const clock::time_point now = clock::now();

	for (auto entry = waiting_.begin(); entry != waiting_.end();) {
		const auto &[cgroup, wait] = *entry;

		if (!names_.path(cgroup).empty()) {
			charge(cgroup, wait.sum);
		} else if (last || now - wait.since >= longest_wait) {
			add(removed_, wait.sum);
			add(kind::others, wait.sum);
		} else {
			++entry;
			continue;
		}
		entry = waiting_.erase(entry);
	}
}

void share_counts::add(const account &account)
{
	const clock::time_point now = clock::now();

	for (const task_share &task : account.tasks) {
		amount part = empty_amount();

		part.ns[task.package] = task.cpu_ns;
		for (size_t c = 0; c < plan_.columns.size(); c++)
			part.counts[c][task.package] = task.counts[c];
		if (plan_.by == attribution_by::command) {
			add(task.pid ? kind::command : kind::others, part);
			continue;
		}

		const auto [entry, added] = waiting_.try_emplace(task.cgroup);
		waiting &wait = entry->second;

		if (added)
			wait = {empty_amount(), now};
		add(wait.sum, part);
	}
	charge_waiting(false);
	add_packages(account);
	missed_ = account.missed;
	looks_ = account.looks;
	unfollowed_ = account.unfollowed;
}

void share_counts::end()
{
	charge_waiting(true);
}

double share_counts::seconds(period when) const
{
	return (when == period::total ? total_ : interval_).seconds;
}

/// Round the count of an event for a set of tasks in a package.  The rounded counts of the
/// command, of other tasks and of no task add up to all counts, which are whole: other
/// tasks have the rest.  The rest includes counts that are not divided yet at the end of
/// an interval.
uint64_t share_counts::whole(const sums &period_sums, const cli::share &share,
			     size_t package) const
{
	const kind type = plan_.tasks[share.tasks].type;
	const uint64_t count = to_whole(
		period_sums.tasks[share.tasks].counts[share.column][package]);

	if (!plan_.divides || type == kind::all || type == kind::idle)
		return count;

	uint64_t command = 0, rest = 0;

	for (size_t i = 0; i < plan_.tasks.size(); i++) {
		const uint64_t part = to_whole(
			period_sums.tasks[i].counts[share.column][package]);

		if (plan_.tasks[i].type == kind::all)
			rest += part;
		else if (plan_.tasks[i].type == kind::idle)
			rest -= part;
		else if (plan_.tasks[i].type == kind::command)
			command = part;
	}
	command = std::min(command, rest);
	return type == kind::command ? command : rest - command;
}

share_counts::number share_counts::count(const cli::share &share,
					 std::optional<size_t> package,
					 period when) const
{
	const sums &period_sums = when == period::total ? total_ : interval_;
	const bool has_all = plan_.tasks[share.tasks].type == kind::all;
	const amount &part = period_sums.tasks[share.tasks];
	number result;

	for (size_t p = 0; p < chosen_.size(); p++) {
		if (!chosen_[p] || (package && p != *package))
			continue;
		result.raw += whole(period_sums, share, p);
		// Each counter counted all the time.
		result.ns +=
			part.ns[p] * (has_all ? counters_[share.column][p] : 1);
	}
	return result;
}

report_line share_counts::line(size_t share, std::optional<size_t> package,
			       period when) const
{
	const cli::share &planned = plan_.shares[share];
	const attribution_column &column = plan_.columns[planned.column];
	const uncore::event &event = column.events.front();
	const counted_tasks &tasks = plan_.tasks[planned.tasks];
	const number counted = count(planned, package, when);
	const std::chrono::nanoseconds time(counted.ns);
	report_line line{{.index = plan_.divides ? planned.column : share,
			  .name = column.name,
			  .unit = event.unit,
			  .event = &event,
			  .package = package ? machine_.packages()[*package].id
					     : -1,
			  .raw = counted.raw,
			  .enabled = time,
			  .running = time},
			 package ? uncore::scope::package
				 : uncore::scope::machine,
			 double(counted.raw) * event.scale,
			 std::nan(""),
			 std::nan(""),
			 double(counted.ns),
			 1,
			 {tasks.name, tasks.title}};

	// The first set of tasks of a division has all counts.
	if (plan_.divides && tasks.type != kind::all)
		if (const uint64_t all =
			    count({planned.column, 0}, package, when).raw)
			line.tasks.part = double(counted.raw) / double(all);
	return line;
}

std::vector<report_line> share_counts::lines(uncore::scope line_scope,
					     period when) const
{
	std::vector<report_line> lines;

	if (line_scope == uncore::scope::machine)
		for (size_t i = 0; i < plan_.shares.size(); i++)
			lines.push_back(line(i, std::nullopt, when));
	for (size_t p = 0;
	     line_scope == uncore::scope::package && p < chosen_.size(); p++)
		for (size_t i = 0; i < plan_.shares.size(); i++)
			if (chosen_[p] &&
			    counters_[plan_.shares[i].column][p])
				lines.push_back(line(i, p, when));
	return lines;
}

void share_counts::add_to(nlohmann::ordered_json &document) const
{
	document["missed"] = missed_;
	if (plan_.divides)
		document["unfollowed"] = unfollowed_;
}

std::vector<std::string> share_counts::losses() const
{
	std::vector<std::string> lines;
	auto describe = [&](const amount &lost, std::string_view reason) {
		std::vector<std::string> parts;

		for (size_t c = 0; c < plan_.columns.size(); c++) {
			const uint64_t total = to_whole(sum(all_.counts[c]));
			const fixed_count missing = sum(lost.counts[c]);

			if (to_whole(missing))
				parts.push_back(fmt::format(
					"{} of {}",
					percent(to_double(missing) / total),
					plan_.columns[c].name));
		}
		if (!parts.empty())
			lines.push_back(fmt::format(
				"{}: {}, {}", fmt::join(parts, ", "),
				plan_.divides ? "counted for other tasks"
					      : "in none of the cgroups",
				reason));
	};

	if (std::none_of(plan_.tasks.begin(), plan_.tasks.end(),
			 [](const counted_tasks &tasks) {
				 return !tasks.path.empty() &&
					tasks.type != kind::all;
			 }))
		return {};
	describe(
		removed_,
		"as it belongs to cgroups that were removed within a second of their creation");
	describe(
		other_,
		"as there are more cgroups than attribution has room for");
	return lines;
}

std::string share_counts::missed_line() const
{
	if (!missed_)
		return {};
	return fmt::format(
		"{} of {} context switches were missed, as another CPU held a lock: the task before a missed switch has counts of the task after",
		missed_, looks_ + missed_);
}

} // namespace cli
