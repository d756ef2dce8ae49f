// SPDX-License-Identifier: GPL-2.0-or-later
// Attribution of traffic to tasks: loads bpf/attribution.bpf.c, gives it events
// to read at each context switch, and keeps its accounts.  It prints nothing.
//
// Here and not in libuncore, because the programs are GPL-2.0-only.
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

/// A count with 64 binary places, so that shares of it add up without error.
__extension__ typedef unsigned __int128 fixed_count;
inline constexpr unsigned fixed_bits = 64;

inline double to_double(fixed_count value)
{
	return static_cast<double>(value) / 0x1p64;
}

/// A column: counters of any boxes, whose counts have one meaning and are
/// added.
struct attribution_column {
	std::string name;
	std::vector<uncore::event> events;
};

struct attribution_options {
	std::vector<attribution_column> columns;
	/// Weigh tasks by their CPU's rate of this event; none: equally.
	std::optional<uncore::event> weight;
	/// Tasks with a row each at a time; further ones are "other".
	size_t max_tasks = 8192;
	/// A package's counters are read at most so often, on average; 0: at
	/// each context switch.
	std::chrono::nanoseconds resolution = std::chrono::microseconds(100);
	/// Open a copy for each CPU also where an event a package would do.
	bool each_cpu = false;
	/// Do without bpf_loop() also where the kernel has it.
	bool bounded_loops = false;
};

/// A task in one package, and in one cgroup.
struct task_share {
	uint64_t start_time = 0, cgroup = 0;
	uint32_t pid = 0, tgid = 0;
	unsigned package = 0; ///< index in topology::packages()
	std::string comm;
	uint64_t cpu_ns = 0;
	std::vector<fixed_count> counts; ///< one a column
};

/// A package's side of the account.
struct package_account {
	int id = 0;
	/// From when to when its counters were read; 0 where they were not
	/// before, as its CPUs were offline.
	uint64_t ns = 0;
	std::vector<uint64_t> totals; ///< what the counters saw, a column each
	std::vector<uint64_t> idle;   ///< of that, while no task ran
	uint64_t idle_ns = 0;
	/// Tasks without a row.
	std::vector<fixed_count> other;
	uint64_t other_ns = 0;
	/// Tasks that were merged into it, least active first; and switches of
	/// tasks for which the programs had no room.
	uint64_t merged = 0, dropped = 0;
	/// Counts that are not divided yet, usually far less than one; and
	/// those of the account before.
	std::vector<fixed_count> remainder, remainder_before;
};

/// The counts since the last account.  In each package and column totals are
/// the sum of the tasks' counts, other, idle and remainder less
/// remainder_before, exactly.
struct account {
	std::vector<task_share> tasks;
	std::vector<package_account> packages;
	/// Switches that were given up because of a busy lock, so far.
	uint64_t missed = 0;
	/// Context switches and other looks so far, and how many of them read
	/// their package's counters.
	uint64_t looks = 0, reads = 0;
	/// Faults since the last account, a line each.
	std::vector<std::string> warnings;
};

class attribution {
public:
	/// Opens the events, loads the programs and attaches them.
	/// @p machine must outlive the object.
	/// Errors: errc::permission, errc::unsupported (no BTF, kernel too
	/// old), errc::conflict (a box has no counter left), and those of the
	/// events.
	static uncore::result<std::unique_ptr<attribution>>
	start(attribution_options options, const uncore::topology &machine);

	~attribution();

	/// To be called several times a second: takes up CPUs that came online,
	/// empties the map of tasks before it is full.
	uncore::result<void> tend();
	/// The account since the last one, or since the start.
	uncore::result<account> take();
	/// Detaches; one more account may be taken.
	void stop();

private:
	struct state;

	attribution();
	std::unique_ptr<state> state_;
};

} // namespace cli
