// SPDX-License-Identifier: LGPL-2.1-or-later
// Source of a session's counts and time: the kernel (perf_events.hpp), or a
// test.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <uncore/counter_set.hpp>
#include <uncore/error.hpp>

#include "plan.hpp"
#include "session.hpp"

namespace uncore {

class counter_backend {
public:
	virtual ~counter_backend() = default;

	/// Open a group, stopped, on each of these CPUs, at least one.
	/// @return the group's number, for the functions below.
	virtual result<unsigned> open(const counter_group &group,
				      std::span<const int> cpus) = 0;
	/// Start and stop a group on all of its CPUs.
	virtual result<void> enable(unsigned group) = 0;
	virtual result<void> disable(unsigned group) = 0;

	/// Read a group on the CPU with this index, in one system call, in the
	/// layout of PERF_FORMAT_GROUP: number of values, time enabled, time
	/// running, values.
	/// @return the number of bytes; 0 if the events are lost, as after
	/// their CPU went offline; or a negative error number.
	virtual int64_t read_group(unsigned group, unsigned cpu_index,
				   std::span<uint64_t> values) = 0;

	/// Migrate the calling thread to one of these CPUs, all CPUs of a
	/// package: reading the package's counters then interrupts no other
	/// CPU. The thread stays where it is if its affinity has none of the
	/// CPUs.
	virtual void visit(std::span<const int> cpus) = 0;
	/// Restore the thread's CPU affinity.
	virtual void leave() = 0;

	virtual bool is_online(int cpu) = 0;
	/// Check that the box of an event answers on a CPU of its package.
	virtual bool answers(const event &probe, int cpu) = 0;

	/// Watch a small sysfs file, which may be missing.  @return the file's
	/// number.
	virtual unsigned watch(const std::filesystem::path &file) = 0;
	/// Return a watched file's text if it changed since the last call, and
	/// at the first call.
	virtual std::optional<std::string> changed(unsigned file) = 0;

	/// Time of a clock that does not jump.
	virtual std::chrono::nanoseconds now() = 0;
	/// Sleep for this time.
	virtual void wait(std::chrono::nanoseconds time) = 0;
};

/// Open a session on the caller's backend; see session::open().
result<session> open_session(plan group_plan, const topology &machine,
			     const session_options &options,
			     std::shared_ptr<counter_backend> backend);

/// Open a counter set on the caller's backend; see counter_set::open().
result<void> open_counters(counter_set &counters,
			   const session_options &options,
			   std::shared_ptr<counter_backend> backend);

} // namespace uncore
