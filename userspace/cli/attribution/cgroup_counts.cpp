// SPDX-License-Identifier: GPL-2.0-or-later
#include "attribution/cgroup_counts.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "output/number.hpp"

namespace cli {

using uncore::period;

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

cgroup_counts::cgroup_counts(const cgroup_plan &plan,
			     const uncore::topology &machine,
			     const std::vector<int> &sockets,
			     cgroup_names &names)
	: plan_(plan), names_(names)
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
	for (const counted_cgroup &cgroup : plan.cgroups)
		if (!cgroup.has_all())
			names.remember(cgroup.path);
	interval_ = total_ = empty_sums();
	removed_ = other_ = empty_share();
}

cgroup_counts::share cgroup_counts::empty_share() const
{
	return {std::vector(plan_.columns.size(),
			    std::vector<fixed_count>(chosen_.size())),
		std::vector<uint64_t>(chosen_.size())};
}

cgroup_counts::sums cgroup_counts::empty_sums() const
{
	return {std::vector(plan_.cgroups.size(), empty_share()), empty_share(),
		0};
}

void cgroup_counts::add(share &sum, const share &part)
{
	for (size_t p = 0; p < sum.ns.size(); p++) {
		sum.ns[p] += part.ns[p];
		for (size_t c = 0; c < sum.counts.size(); c++)
			sum.counts[c][p] += part.counts[c][p];
	}
}

void cgroup_counts::begin_interval()
{
	interval_ = empty_sums();
}

/// Add the counts and times of whole packages (root), and the counts of tasks for
/// which attribution had no room (other_).
void cgroup_counts::add_packages(const account &account)
{
	share root = empty_share(), other = empty_share();
	double seconds = 0;

	for (size_t p = 0; p < chosen_.size(); p++) {
		const package_account &package = account.packages[p];

		seconds = std::max(seconds, package.ns / 1e9);
		root.ns[p] = package.ns;
		for (size_t c = 0; c < plan_.columns.size(); c++) {
			root.counts[c][p] =
				static_cast<fixed_count>(package.totals[c])
				<< fixed_bits;
			other.counts[c][p] = package.other[c];
		}
	}
	for (sums *sum : {&interval_, &total_}) {
		add(sum->root, root);
		sum->seconds += seconds;
	}
	add(other_, other);
}

/// Add the counts of a cgroup to each cgroup of the plan that is the cgroup or its
/// ancestor.
void cgroup_counts::charge(uint64_t cgroup, const share &part)
{
	const std::string &path = names_.path(cgroup);

	for (size_t i = 0; i < plan_.cgroups.size(); i++) {
		if (plan_.cgroups[i].has_all() ||
		    !is_within(path, plan_.cgroups[i].path))
			continue;
		add(interval_.cgroups[i], part);
		add(total_.cgroups[i], part);
	}
}

/// Add the counts in waiting_ whose cgroup has a path by now to the plan's cgroups,
/// and counts of removed cgroups to removed_.  @param last: no path comes any more.
void cgroup_counts::charge_waiting(bool last)
{
	const clock::time_point now = clock::now();

	for (auto entry = waiting_.begin(); entry != waiting_.end();) {
		const auto &[cgroup, wait] = *entry;

		if (!names_.path(cgroup).empty())
			charge(cgroup, wait.sum);
		else if (last || now - wait.since >= longest_wait)
			add(removed_, wait.sum);
		else {
			++entry;
			continue;
		}
		entry = waiting_.erase(entry);
	}
}

void cgroup_counts::add(const account &account)
{
	const clock::time_point now = clock::now();

	for (const task_share &task : account.tasks) {
		const auto [entry, added] = waiting_.try_emplace(task.cgroup);
		waiting &wait = entry->second;

		if (added)
			wait = {empty_share(), now};
		wait.sum.ns[task.package] += task.cpu_ns;
		for (size_t c = 0; c < plan_.columns.size(); c++)
			wait.sum.counts[c][task.package] += task.counts[c];
	}
	charge_waiting(false);
	add_packages(account);
	missed_ = account.missed;
	looks_ = account.looks;
}

void cgroup_counts::end()
{
	charge_waiting(true);
}

double cgroup_counts::seconds(period when) const
{
	return (when == period::total ? total_ : interval_).seconds;
}

bool cgroup_counts::has_counters(const cgroup_event &event,
				 size_t package) const
{
	return chosen_[package] && counters_[event.column][package];
}

cgroup_counts::number cgroup_counts::count(const cgroup_event &event,
					   std::optional<size_t> package,
					   period when) const
{
	const sums &period_sums = when == period::total ? total_ : interval_;
	const bool has_all = plan_.cgroups[event.cgroup].has_all();
	const share &part =
		has_all ? period_sums.root : period_sums.cgroups[event.cgroup];
	fixed_count count = 0;
	number result;

	for (size_t p = 0; p < chosen_.size(); p++) {
		if (!chosen_[p] || (package && p != *package))
			continue;
		count += part.counts[event.column][p];
		// Each counter counted all the time.
		result.ns +=
			part.ns[p] * (has_all ? counters_[event.column][p] : 1);
	}
	result.raw = to_whole(count);
	return result;
}

std::vector<std::string> cgroup_counts::losses() const
{
	std::vector<std::string> lines;
	auto describe = [&](const share &lost, std::string_view reason) {
		std::vector<std::string> parts;

		for (size_t c = 0; c < plan_.columns.size(); c++) {
			const uint64_t total =
				to_whole(sum(total_.root.counts[c]));
			const fixed_count missing = sum(lost.counts[c]);

			if (to_whole(missing))
				parts.push_back(fmt::format(
					"{} of {}",
					percent(to_double(missing) / total),
					plan_.columns[c].name));
		}
		if (!parts.empty())
			lines.push_back(
				fmt::format("{}: in none of the cgroups, {}",
					    fmt::join(parts, ", "), reason));
	};

	if (std::all_of(plan_.cgroups.begin(), plan_.cgroups.end(),
			[](const counted_cgroup &c) { return c.has_all(); }))
		return {};
	describe(
		removed_,
		"as it belongs to cgroups that were removed within a second of their creation");
	describe(
		other_,
		"as there are more tasks than attribution has room for ('uncore top --max-tasks' has more)");
	return lines;
}

std::string cgroup_counts::missed_line() const
{
	if (!missed_)
		return {};
	return fmt::format(
		"{} of {} context switches were missed, as another CPU held a lock: the task before a missed switch has counts of the task after",
		missed_, looks_ + missed_);
}

} // namespace cli
