// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a session's counts and time come from: the kernel, or a test.
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

	/// Opens a group, stopped, on each of these CPUs, at least one.
	/// @return the group's number, for the functions below.
	virtual result<unsigned> open(const counter_group &group,
				      std::span<const int> cpus) = 0;
	virtual result<void> enable(unsigned group) = 0;
	virtual result<void> disable(unsigned group) = 0;

	/// Reads a group on the CPU of that index, in one system call, as
	/// PERF_FORMAT_GROUP has it: number of values, time enabled, time
	/// running, values.
	/// @return the number of bytes, 0 when the event is lost, or a negative
	/// error number.
	virtual int64_t read_group(unsigned group, unsigned cpu_index,
				   std::span<uint64_t> values) = 0;

	/// Moves the calling thread to one of these CPUs, where reading the
	/// counters of their package disturbs no other CPU; it stays where it
	/// is when it may not go there.
	virtual void visit(std::span<const int> cpus) = 0;
	/// Lets it run again wherever it could before.
	virtual void leave() = 0;

	virtual bool is_online(int cpu) = 0;
	/// Does the box of an event answer on a CPU of its package?
	virtual bool answers(const event &wanted, int cpu) = 0;

	/// Watches a small file of sysfs, which may be missing.  @return its
	/// number.
	virtual unsigned watch(const std::filesystem::path &file) = 0;
	/// Its text, if it has another one than the last time.
	virtual std::optional<std::string> changed(unsigned file) = 0;

	virtual std::chrono::nanoseconds now() = 0;
	/// Returns when so much time has passed.
	virtual void wait(std::chrono::nanoseconds time) = 0;
};

/// session::open(), with counters of the caller's.
result<session> open_session(plan what, const topology &machine,
			     const session_options &options,
			     std::shared_ptr<counter_backend> backend);

/// counter_set::open(), with counters of the caller's.
result<void> open_counters(counter_set &counters,
			   const session_options &options,
			   std::shared_ptr<counter_backend> backend);

} // namespace uncore
