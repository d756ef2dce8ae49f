// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counting a plan's events on every package: a session opens the events,
/// starts them together, and reads each group with one system call.  Counts of
/// multiplexed groups are scaled by the time that the groups ran, with an
/// estimate of the scaling error.
///
/// All boxes of a machine see a program's phases at the same time, so the
/// errors of their counts are not independent, and the error of a sum does not
/// follow from them.  add_up() registers sums before counting begins: the
/// session then adds up the rates at each read, and estimates the error of the
/// sum from these.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <uncore/counter_set.hpp>
#include <uncore/error.hpp>
#include <uncore/topology.hpp>

#include "account.hpp"
#include "health.hpp"
#include "plan.hpp"

namespace uncore {

class counter_backend;

/// Count of an event on one CPU; for a box's event, of one package.
struct count {
	/// The event's count, scaled if the event was multiplexed; not a number
	/// if the event never ran.
	double value = 0;
	/// Standard error of value from scaling; 0 if the event was not
	/// multiplexed.  The estimate uses the changes of the event's rate from
	/// one read() or sample() to the next.  If the traffic changes with the
	/// period of the multiplexing, or nearly, value is off by more than
	/// this error.  Not a number (unknown) with fewer than three reads, or
	/// if the count is 0.
	double error = 0;
	/// Unscaled count of the hardware.
	uint64_t raw = 0;
	/// Time for which the event was enabled, and for which it ran.
	std::chrono::nanoseconds enabled{}, running{};

	/// Share of the enabled time for which the event ran, 0 to 1; 1 without
	/// enabled time.
	double share() const
	{
		return enabled.count() ? double(running.count()) /
						 double(enabled.count())
				       : 1;
	}
	/// Add the count of another counter of the same event.  The added
	/// errors are an upper limit of the sum's error, reached if the rates
	/// of both counters change together.  session::add_up() gives an
	/// estimate.
	count &operator+=(const count &addend);
};

/// An event of a session on one of the event's CPUs.
struct counter_at {
	counter_id counter;
	size_t cpu_index = 0;
};

/// A set of sums that a session adds up at each read: index of the set.
struct sum_set {
	uint32_t index = 0;
};

class session {
public:
	/// Open all events, stopped.  Each event takes more than one descriptor
	/// on each of its CPUs: the program has to raise its limit
	/// (RLIMIT_NOFILE) if necessary.  Boxes that do not answer are left
	/// out, see health().
	/// @param machine gives the packages of CPUs.
	/// Errors: errc::permission (names the setting), errc::conflict (the
	/// kernel cannot put a group's events together), errc::gone (no box
	/// answers, or all CPUs disappeared), errc::system.
	static result<session> open(plan group_plan, const topology &machine,
				    const session_options &options = {});

	session(session &&) noexcept;
	session &operator=(session &&) noexcept;
	~session();

	/// Start all groups; all groups of a box start in one cycle.
	result<void> enable();
	/// Stop all groups; counts stay.
	result<void> disable();

	/// Read all groups, one system call for each group on each CPU.  After
	/// the call, interval() has the counts since the read() before, and
	/// total() the counts since enable().  Allocates nothing.
	/// Errors: errc::gone, when a box stopped answering, or a CPU went
	/// offline with its events; reported once for each box.  The groups on
	/// all other boxes and CPUs were read all the same.
	result<void> read();
	/// Read all groups without ending the interval: interval() still begins
	/// with the last read().  Counts are scaled from one read or sample to
	/// the next, so for multiplexed events some samples between two reads
	/// improve scaling.  They also give the changes of the rate, from which
	/// the error is estimated.
	result<void> sample();
	/// Time until the next sample(): long enough that every group has
	/// counted for a turn, and that samples take at most a twentieth of the
	/// time.  0 if no event has been multiplexed yet.
	std::chrono::nanoseconds sample_time() const;

	/// Add the growth of a package's counters between the last two reads to
	/// an account.  @return the time between the last two reads.
	std::chrono::nanoseconds charge(account &charged, int package) const;
	/// Replace the interval by an account, as show_account() does.
	void show(const account &shown, std::chrono::nanoseconds time);

	/// Health of the plan's boxes on each package, and of CPUs with core
	/// events: the worst condition in the interval, or since the session
	/// was opened.
	std::span<const box_health> health(period when) const;
	/// Health of the box or CPU that counts an event.
	const box_health &health(counter_id id, size_t cpu_index,
				 period when) const;
	/// Check whether an event counted at all in the period.  False if its
	/// box or CPU was lost and it did not run in the period.
	bool counted(counter_id id, size_t cpu_index, period when) const;
	/// Describe the problems of boxes and CPUs since the last call, for the
	/// user: one line for all boxes of a socket with the same problem.
	std::vector<std::string> news();

	/// CPUs on which an event is counted, ascending.
	std::span<const int> cpus(counter_id id) const;
	/// Package of an event's CPU, or -1.
	int package(counter_id id, size_t cpu_index) const;

	/// Count of an event on one of its CPUs, in the interval and since
	/// enable().
	count interval(counter_id id, size_t cpu_index) const;
	count total(counter_id id, size_t cpu_index) const;

	/// Add up the counts of each of these lists of counters at each read,
	/// and estimate the error of each sum.  Call before enable().
	sum_set add_up(std::span<const std::vector<counter_at>> sums);
	/// Sum of a set, by its index in the list that add_up() got.
	count interval(sum_set sums, size_t index) const;
	count total(sum_set sums, size_t index) const;
	/// Estimate the standard error of a function of the sums of a set, such
	/// as a metric: the counts of the metric's events are the sums.
	/// @param gradient derivative of the function by each sum of the set,
	/// at the sums' values: how much the function changes for each count
	/// more.
	double error(sum_set sums, std::span<const double> gradient,
		     period when) const;

	/// Wall time between the last two reads (or from enable() to the only
	/// read), and from enable() to the last read.
	std::chrono::nanoseconds interval_time() const;
	std::chrono::nanoseconds total_time() const;

	/// Check whether any group ran for less than its enabled time.
	bool was_multiplexed() const;

private:
	friend result<session>
	open_session(plan group_plan, const topology &machine,
		     const session_options &options,
		     std::shared_ptr<counter_backend> backend);

	struct state;
	explicit session(std::unique_ptr<state> opened);
	std::unique_ptr<state> state_;
};

} // namespace uncore
