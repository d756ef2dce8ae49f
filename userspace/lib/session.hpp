// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counting a plan's events on every package: a session opens the events,
/// starts them together, and reads each group with one system call.  Counts of
/// multiplexed groups are scaled by the time that the groups ran, with an
/// estimate of the scaling error.
///
/// All boxes of a machine see a program's phases at the same time.  The errors
/// of the parts therefore do not give the error of a sum: after add_up(), the
/// session adds up first and then estimates.
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

/// Count of an event on one CPU; for a box's event, of one package.
struct count {
	/// The event's count, scaled if the event was multiplexed; not a number
	/// if the event never ran.
	double value = 0;
	/// Standard error of value from scaling; 0 if the event was not
	/// multiplexed.  The estimate uses the changes of the event's rate from
	/// read to read (and sample).  Traffic that is periodic with the
	/// multiplexing, or nearly, is off by more than this error.  Not a
	/// number (unknown) with fewer than three reads, or if no event was
	/// seen.
	double error = 0;
	/// Unscaled count of the hardware.
	uint64_t raw = 0;
	/// Time for which the event was enabled, and for which it ran.
	std::chrono::nanoseconds enabled{}, running{};

	/// Running share of the enabled time, 0 to 1; 1 without enabled time.
	double share() const
	{
		return enabled.count() ? double(running.count()) /
						 double(enabled.count())
				       : 1;
	}
	/// Add the count of another counter of the same event.  The errors add
	/// up as well, an upper limit, which boxes that change in step reach.
	/// session::add_up() estimates the error of the sum.
	count &operator+=(const count &addend);
};

/// An event of a session on one of the event's CPUs.
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
	/// Open all events, stopped.  The session takes more than one
	/// descriptor for each event on each CPU: the program raises the limit
	/// (RLIMIT_NOFILE).  Boxes that do not answer are left out, see
	/// health().
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

	/// Read all groups, one system call for each box.  Counts since the
	/// last read are then interval(), counts since enable() total().
	/// Allocates nothing.
	/// Errors: errc::gone, when a box stopped answering, or a CPU went
	/// offline with its events; reported once for each box.  All other
	/// groups have been read.
	result<void> read();
	/// Read all groups without ending the interval: interval() still begins
	/// with the last read().  For multiplexed events, some samples between
	/// two reads improve scaling and make its error known.
	result<void> sample();
	/// Time until the next sample(): long enough for a turn of every event,
	/// and for samples to take at most a twentieth of the time.  0 if no
	/// event has been multiplexed yet.
	std::chrono::nanoseconds sample_time() const;

	/// Health of the plan's boxes on each package, and of CPUs with their
	/// own events, at the last read(), or the worst since enable().
	std::span<const box_health> health(period when) const;
	/// Health of the box or CPU that counts an event.
	const box_health &health(counter_id id, size_t cpu_index,
				 period when) const;
	/// Check whether an event counted at all in the period: not after its
	/// box was lost.
	bool counted(counter_id id, size_t cpu_index, period when) const;
	/// Report changes for the worse since the last call, as text: one line
	/// for all boxes of a socket with the same change.
	std::vector<std::string> news();

	/// CPUs on which an event is counted, ascending.
	std::span<const int> cpus(counter_id id) const;
	/// Package of an event's CPU, or -1.
	int package(counter_id id, size_t cpu_index) const;

	count interval(counter_id id, size_t cpu_index) const;
	count total(counter_id id, size_t cpu_index) const;

	/// Add up the counts of each of these lists of counters at each read,
	/// and estimate the error of the sum.  To be called before enable().
	sum_set add_up(std::span<const std::vector<counter_at>> sums);
	count interval(sum_set sums, size_t index) const;
	count total(sum_set sums, size_t index) const;
	/// Standard error of a function of the sums of a set.
	/// @param gradient derivative of the function by each sum.
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
