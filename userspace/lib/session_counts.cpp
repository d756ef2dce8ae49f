// SPDX-License-Identifier: LGPL-2.1-or-later
// Results of a session: each counter's count, sums of counters, their errors,
// and the time until the next sample.  session.cpp reads the counters and
// passes their growth between two reads to the estimators of single counters
// (class estimator, estimate.hpp).  This file passes the growth to the
// estimators of sums (class sum_estimator), and takes the results out of both.
//
// A unit is a group on one CPU.  A unit is lost after its box stopped answering
// or its CPU went offline: it is not read again, and its counts stay.
#include <algorithm>
#include <cmath>

#include "session_state.hpp"

namespace uncore {

using std::chrono::nanoseconds;

namespace {

/// Maximum number of turns until the next sample.
constexpr double most_turns = 64;
/// Minimum time between two samples, as a multiple of the duration of a read:
/// samples then take at most a twentieth of the time.
constexpr int sample_budget = 20;

} // namespace

/// A sample is a read within an interval.  If more groups are open than fit on
/// a box, perf exchanges the groups that count after each turn (the PMU's
/// multiplexing interval).  A group that ran for 1/n of its enabled time counts
/// in one of n turns.  So after n turns every group has counted once, and a
/// sample is useful.  The group with the largest product of n and turn decides.
nanoseconds session::sample_time() const
{
	nanoseconds longest{};

	for (const state::unit &u : state_->units) {
		const stratum &whole_time =
			state_->estimators[u.estimators].total().all;

		if (u.lost || !whole_time.running ||
		    whole_time.running >= whole_time.enabled)
			continue;

		const double turns = std::min(
			most_turns, std::ceil(double(whole_time.enabled) /
					      double(whole_time.running)));

		longest = std::max(
			longest, std::chrono::duration_cast<nanoseconds>(
					 turns * state_->groups[u.group].turn));
	}
	// No group was multiplexed: scaling needs no samples.
	if (!longest.count() && !state_->multiplexed)
		return longest;
	// If all multiplexed groups are lost or have not run yet, longest is 0,
	// and the time is at least perf's default turn.
	return std::max({longest, usual_turn, sample_budget * state_->cost});
}

/// Return the worst condition of each box in the period, such as disturbed,
/// stopped or dead.
std::span<const box_health> session::health(period when) const
{
	return state_->boxes.health(when);
}

const box_health &session::health(counter_id id, size_t cpu_index,
				  period when) const
{
	return health(when)[state_->unit_of(id, cpu_index).box];
}

/// A unit that is not lost is taken as counted, even if it did not run in the
/// period: it may still run.  A lost unit did count if it ran before the loss.
bool session::counted(counter_id id, size_t cpu_index, period when) const
{
	const state::unit &u = state_->unit_of(id, cpu_index);
	const estimator &member = state_->estimators[u.estimators + id.member];

	return !u.lost ||
	       (when == period::interval ? member.interval() : member.total())
		       .all.running;
}

/// Take the lines about problems of boxes and CPUs since the last call.
std::vector<std::string> session::news()
{
	return std::exchange(state_->news, {});
}

std::span<const int> session::cpus(counter_id id) const
{
	return state_->groups[id.group].cpus;
}

int session::package(counter_id id, size_t cpu_index) const
{
	return state_->groups[id.group].packages[cpu_index];
}

/// Make a count of a counter's totals (raw count and times), of its scaled
/// count and of the standard error of the scaled count.
static count count_of(const stratum &s, double value, double error)
{
	return {value, error, s.raw, nanoseconds(s.enabled),
		nanoseconds(s.running)};
}

count session::interval(counter_id id, size_t cpu_index) const
{
	const state::unit &u = state_->unit_of(id, cpu_index);
	const estimator &member = state_->estimators[u.estimators + id.member];
	const tally &t = member.interval();

	// After its box was lost, a counter has no enabled time.  scaled()
	// would return 0, but the count of the interval is unknown.
	return count_of(t.all,
			u.lost && !t.all.running ? std::nan("") : t.scaled(),
			member.interval_error());
}

count session::total(counter_id id, size_t cpu_index) const
{
	const state::unit &u = state_->unit_of(id, cpu_index);
	const estimator &member = state_->estimators[u.estimators + id.member];

	return count_of(member.total().all, member.total().scaled(),
			member.error());
}

/// Find the sums that are counted at the same times.  Events of a group count
/// at the same times, so two sums do if their counters are in the same groups,
/// on the same CPUs, in the same order.  sum_estimator takes all other pairs of
/// sums as multiplexed against one another, so that the errors of the two sums
/// add up in their ratio or difference.
/// @return for each sum, the index of the first sum with the same groups and
/// CPUs; its own index if it is the first.
static std::vector<size_t>
counted_together(std::span<const std::vector<counter_at>> sums)
{
	auto same_counters = [](const std::vector<counter_at> &a,
				const std::vector<counter_at> &b) {
		return std::equal(a.begin(), a.end(), b.begin(), b.end(),
				  [](const counter_at &x, const counter_at &y) {
					  return x.counter.group ==
							 y.counter.group &&
						 x.cpu_index == y.cpu_index;
				  });
	};
	std::vector<size_t> first;

	for (const auto &sum : sums)
		first.push_back(std::find_if(sums.begin(), sums.end(),
					     [&](const auto &candidate) {
						     return same_counters(
							     sum, candidate);
					     }) -
				sums.begin());
	return first;
}

sum_set session::add_up(std::span<const std::vector<counter_at>> sums)
{
	std::vector<size_t> counters;

	for (const auto &sum : sums)
		counters.push_back(sum.size());
	state_->sums.push_back(
		{{sums.begin(), sums.end()},
		 sum_estimator(counters, counted_together(sums))});
	return {uint32_t(state_->sums.size() - 1)};
}

/// Pass the growth of each counter since the previous read, between(), to the
/// estimators of the sums.  flush() then makes each estimator compute the sums'
/// rates in this read.
void session::state::add_up()
{
	for (watched_sums &set : sums) {
		for (size_t s = 0; s < set.counters.size(); s++)
			for (size_t c = 0; c < set.counters[s].size(); c++)
				set.estimator.add(s, c,
						  between(set.counters[s][c]));
		set.estimator.flush();
	}
}

/// Estimate the error of a function of the sums by the delta method: near the
/// sums' values the function is taken as linear.  Then its error follows from
/// the errors of the sums, and from the gradient: the derivatives of the
/// function by each sum.
double session::error(sum_set sums, std::span<const double> gradient,
		      uncore::period when) const
{
	const state::watched_sums &set = state_->sums[sums.index];

	return when == period::total ? set.estimator.error(gradient)
				     : set.estimator.interval_error(gradient);
}

/// Add up the counts of a sum's counters, and take the error of the sum from
/// the set's estimator.  Counters that did not count in the period, because
/// their box was lost, are left out.  If no counter is left, the sum is not a
/// number.
/// @param index of the sum in its set.
/// @param size number of sums of the set.
static count sum_of(const session &counts,
		    const std::vector<counter_at> &counters, sum_set sums,
		    size_t index, size_t size, period when)
{
	std::vector<double> gradient(size);
	count sum;

	size_t n_lost = 0;

	for (const counter_at &c : counters)
		if (!counts.counted(c.counter, c.cpu_index, when))
			n_lost++;
		else
			sum += when == period::interval
				       ? counts.interval(c.counter, c.cpu_index)
				       : counts.total(c.counter, c.cpu_index);
	if (n_lost && n_lost == counters.size())
		sum.value = std::nan("");
	// error() computes the error of a function of the set's sums.  The
	// function "this sum" has the derivative 1 by this sum, and 0 by the
	// set's other sums.
	gradient[index] = 1;
	// += has added up the errors of the counters.  If none of them was
	// multiplexed, this error is 0, and so is the error of the sum.  If a
	// counter was multiplexed, take the error from the estimator.  An
	// unknown error is not a number, which is not equal to 0 either.
	sum.error = sum.error == 0 ? 0 : counts.error(sums, gradient, when);
	return sum;
}

count session::interval(sum_set sums, size_t index) const
{
	const auto &counters = state_->sums[sums.index].counters;

	return sum_of(*this, counters[index], sums, index, counters.size(),
		      period::interval);
}

count session::total(sum_set sums, size_t index) const
{
	const auto &counters = state_->sums[sums.index].counters;

	return sum_of(*this, counters[index], sums, index, counters.size(),
		      period::total);
}

nanoseconds session::interval_time() const
{
	return state_->read_at - state_->interval_began;
}

nanoseconds session::total_time() const
{
	return state_->read_at - state_->started;
}

nanoseconds session::charge(account &charged, int package) const
{
	charged.counters.resize(state_->estimators.size());
	for (const state::unit &u : state_->units) {
		if (state_->groups[u.group].packages[u.cpu_index] != package)
			continue;
		for (uint32_t m = 0; m < u.members; m++)
			charged.counters[u.estimators + m] +=
				state_->between(u, m);
	}
	return state_->read_at - state_->read_before;
}

void session::show(const account &shown, nanoseconds time)
{
	for (size_t i = 0; i < state_->estimators.size(); i++)
		state_->estimators[i].set_interval(i < shown.counters.size()
							   ? shown.counters[i]
							   : stratum{});
	for (state::watched_sums &set : state_->sums)
		set.estimator.forget_interval();
	state_->interval_began = state_->read_at - time;
}

bool session::was_multiplexed() const
{
	return state_->multiplexed;
}

} // namespace uncore
