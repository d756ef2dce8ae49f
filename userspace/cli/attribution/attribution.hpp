// SPDX-License-Identifier: GPL-2.0-or-later
// Attribution of traffic to tasks: loads bpf/attribution.bpf.c, gives the
// programs events to read at each context switch, and keeps their accounts.
// Prints nothing.
//
// Part of the command, not of libuncore: the programs are GPL-2.0-only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/event.hpp>
#include <uncore/topology.hpp>

namespace cli {

/// A count with 64 binary places: shares of a count add up without error.
__extension__ typedef unsigned __int128 fixed_count;
inline constexpr unsigned fixed_bits = 64;

inline double to_double(fixed_count value)
{
	return static_cast<double>(value) / 0x1p64;
}

/// A column: counters of any boxes.  The counts have the same meaning and are
/// added.
struct attribution_column {
	std::string name;
	std::vector<uncore::event> events;
};

struct attribution_options {
	std::vector<attribution_column> columns;
	/// Event whose rate on a CPU is the weight of the CPU's task; nullopt:
	/// equal weights.
	std::optional<uncore::event> weight;
	/// Number of tasks with a row; further tasks are "other".
	size_t max_tasks = 8192;
	/// Shortest average time between two reads of a package's counters; 0:
	/// a read at each context switch.
	std::chrono::nanoseconds resolution = std::chrono::microseconds(100);
	/// A copy of each event for each CPU, also where an event per package
	/// is enough.
	bool each_cpu = false;
	/// No use of bpf_loop(), also where the kernel has bpf_loop().
	bool bounded_loops = false;
};

/// A task in one package, and in one cgroup.
struct task_share {
	uint64_t start_time = 0, cgroup = 0;
	uint32_t pid = 0, tgid = 0;
	unsigned package = 0; ///< index in topology::packages()
	std::string comm;
	uint64_t cpu_ns = 0;
	std::vector<fixed_count> counts; ///< by column
};

/// The account of a package.
struct package_account {
	int id = 0;
	/// Time between two reads of the counters; 0 after the first read, as
	/// when the CPUs of the package were offline.
	uint64_t ns = 0;
	std::vector<uint64_t> totals; ///< counts of the counters, by column
	std::vector<uint64_t> idle;   ///< part of totals while no task ran
	uint64_t idle_ns = 0;
	/// Counts of tasks without a row.
	std::vector<fixed_count> other;
	uint64_t other_ns = 0;
	/// Tasks that were merged into other, least active first; switches of
	/// tasks for which the programs had no room.
	uint64_t merged = 0, dropped = 0;
	/// Counts that are not divided yet, usually far below 1; the remainder
	/// of the previous account.
	std::vector<fixed_count> remainder, remainder_before;
};

/// The counts since the last account.  In each package and column, totals is
/// exactly the sum of the tasks' counts, other, idle and remainder, less
/// remainder_before.
struct account {
	std::vector<task_share> tasks;
	std::vector<package_account> packages;
	/// Switches missed since the start because of a busy lock.
	uint64_t missed = 0;
	/// Context switches and polls since the start; number of them that read
	/// the package's counters.
	uint64_t looks = 0, reads = 0;
	/// Faults since the last account, one line per fault.
	std::vector<std::string> warnings;
};

class attribution {
public:
	/// Open the events, load the programs and attach the programs.
	/// @p machine must outlive the object.
	/// Errors: errc::permission, errc::unsupported (no BTF, kernel too
	/// old), errc::conflict (a box has no free counter), and the errors of
	/// uncore::perf_events::open_on().
	static uncore::result<std::unique_ptr<attribution>>
	start(attribution_options options, const uncore::topology &machine);

	~attribution();

	/// Add CPUs that came online, and empty the map of tasks before the map
	/// is full.  Call several times a second.
	uncore::result<void> tend();
	/// Close the account that began at the last account, or at the start.
	uncore::result<account> take();
	/// Detach the programs.  take() has one more account.
	void stop();

private:
	struct state;

	attribution();
	std::unique_ptr<state> state_;
};

} // namespace cli
