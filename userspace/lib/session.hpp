// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counting what a plan says, on every package: a session opens the events,
/// starts them together, and reads each group with one system call.  Counts of
/// groups that had to share their counters with others are scaled by the time
/// that they ran, with an estimate of the error that this brings.
///
/// The boxes of a machine see a program's phases all at once, so the error of a
/// sum does not follow from those of its parts: add_up() has the session add up
/// first, and then estimate.
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

#include "health.hpp"
#include "plan.hpp"

namespace uncore {

class counter_backend;

/// What an event counted on one CPU, which is one package for a box's events.
struct count {
	/// The event's count, scaled where it did not run all of the time; not
	/// a number where it never ran.
	double value = 0;
	/// Standard error of value that comes from scaling; 0 where it ran all
	/// of the time.  It is estimated from how much the event's rate changed
	/// from read to read (and sample).  Traffic that is periodic with the
	/// multiplexing, or nearly, is off by more than its error.  Not a number
	/// where it is unknown: with fewer than three reads, or where the event
	/// was not seen.
	double error = 0;
	/// As the hardware counted.
	uint64_t raw = 0;
	/// Time in which the event was wanted, and in which it ran.
	std::chrono::nanoseconds enabled{}, running{};

	/// Part of the time that it ran, 0 to 1; 1 for no time at all.
	double share() const
	{
		return enabled.count() ? double(running.count()) /
						 double(enabled.count())
				       : 1;
	}
	/// Adds the count of another counter of the same event.  The errors
	/// add up as well, as those of boxes in step do: it is the most that
	/// the sum's can be.  session::add_up() knows better.
	count &operator+=(const count &other);
};

/// An event of a session, on the CPU of that index.
struct counter_at {
	counter_id counter;
	size_t cpu_index = 0;
};

/// Sums that a session adds up at each read.
struct sum_set {
	uint32_t index = 0;
};

class session {
public:
	/// Opens all events, stopped.  It takes a descriptor for each event on
	/// each CPU, and some: raising the limit (RLIMIT_NOFILE) is left to the
	/// program.  Boxes that do not answer are left out, see health().
	/// @param machine is read for the packages of CPUs.
	/// Errors: errc::permission (says what to set), errc::conflict (the
	/// kernel cannot put a group's events together), errc::gone (no box
	/// answers, or all CPUs disappeared), errc::system.
	static result<session> open(plan what, const topology &machine,
				    const session_options &options = {});

	session(session &&) noexcept;
	session &operator=(session &&) noexcept;
	~session();

	/// Starts all groups; those of a box start in one cycle.
	result<void> enable();
	/// Stops them; counts stay.
	result<void> disable();

	/// Reads all groups, one system call for each box.  What was counted
	/// since the last read is then interval(), since enable() total().
	/// Allocates nothing.
	/// Errors: errc::gone, when a box stopped answering, or a CPU went
	/// offline and its events with it; names them once, and continues with
	/// the others at the next call.  Whatever could be read is there.
	result<void> read();
	/// The same within an interval, which continues: interval() is of the
	/// time since the last read().  Where events are multiplexed, scaling
	/// is better, and its error known, with some of these between two
	/// reads.
	result<void> sample();
	/// In how much time to sample() again: when every event had its turn,
	/// but not so often that it takes more than a twentieth of the time.  0
	/// where no event has been multiplexed yet.
	std::chrono::nanoseconds sample_time() const;

	/// The boxes of the plan on each package of the machine, and the CPUs
	/// with their own events, as of the last read(), or the worst
	/// since enable().
	std::span<const box_health> health(period when) const;
	/// That of what an event is counted in.
	const box_health &health(counter_id id, size_t cpu_index,
				 period when) const;
	/// Did it count at all in that time?  Not where its box was lost.
	bool counted(counter_id id, size_t cpu_index, period when) const;
	/// What became worse since this was called the last time, a line for
	/// people for all boxes of a socket to which the same happened.
	std::vector<std::string> news();

	/// CPUs that an event is counted on, ascending.
	std::span<const int> cpus(counter_id id) const;
	/// The package of the CPU of that index, or -1.
	int package(counter_id id, size_t cpu_index) const;

	count interval(counter_id id, size_t cpu_index) const;
	count total(counter_id id, size_t cpu_index) const;

	/// Add up the counts of each of these lists of counters at each read,
	/// and estimate the error of the sum.  To be called before enable().
	sum_set add_up(std::span<const std::vector<counter_at>> sums);
	count interval(sum_set sums, size_t index) const;
	count total(sum_set sums, size_t index) const;
	/// Standard error of a function of the sums of a set.
	/// @param gradient by how much the function grows for each sum's 1.
	double error(sum_set sums, std::span<const double> gradient,
		     period when) const;

	/// Wall time between the last two reads (or enable() and the only one),
	/// and from enable() to the last.
	std::chrono::nanoseconds interval_time() const;
	std::chrono::nanoseconds total_time() const;

	/// Did any group run for less than the time it was wanted?
	bool was_multiplexed() const;

private:
	friend result<session>
	open_session(plan what, const topology &machine,
		     const session_options &options,
		     std::shared_ptr<counter_backend> backend);

	struct state;
	explicit session(std::unique_ptr<state> opened);
	std::unique_ptr<state> state_;
};

} // namespace uncore
