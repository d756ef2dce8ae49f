// SPDX-License-Identifier: GPL-2.0-or-later
// Attribution of traffic to tasks.  The counters of uncore boxes count for a whole package.
// The BPF programs of bpf/attribution.bpf.c read the counters at context switches,
// at most once in a resolution, and divide the counts between two reads among the
// tasks that ran on the package's CPUs.  The part of a task is its share.  A task that
// runs for long without a context switch gets its share when its CPU is polled: a program
// is run on the CPU that does the same as at a switch.
// This class loads the programs, opens the events that they read, and collects the
// shares in accounts.  An account has all counts since the account before.
//
// Part of the command, not of libuncore: the programs are GPL-2.0-only, and libuncore
// is LGPL.
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

/// A number of counts in units of 2^-64.  A task's share of a count is a fraction;
/// in this form fractions are added without rounding.
__extension__ typedef unsigned __int128 fixed_count;
inline constexpr unsigned fixed_bits = 64;

inline double to_double(fixed_count value)
{
	return static_cast<double>(value) / 0x1p64;
}

/// Events whose counts are added to one number, such as the reads of all memory
/// channels.  A column of uncore top's table.
struct attribution_column {
	std::string name;
	std::vector<uncore::event> events;
};

/// The sets of tasks that have a share each.  The programs add up the counts of a
/// set, so that any number of its tasks fits into an account.
enum class attribution_by {
	task,
	/// The tree of each process that existed at the time of open(), and of a
	/// command: the process, and all processes that it and its descendants have
	/// started since.  A command is a process that the caller of open() starts.
	tree,
	/// The command with all its descendants, and all other tasks.
	command,
	cgroup,
};

struct attribution_options {
	std::vector<attribution_column> columns;
	attribution_by by = attribution_by::task;
	/// Limit of the tasks that exist at the same time and were started after
	/// attribution::open(), by tree and by command.
	size_t max_followed = 1 << 16;
	/// Event that each CPU counts for itself, such as cache misses.  A task's
	/// share of the counts is proportional to its run time and to its recent
	/// rate of this event.  nullopt: to its run time alone.
	std::optional<uncore::event> weight;
	/// Limit of the tasks in an account.  The counts of further tasks are in
	/// package_account::other.
	size_t max_tasks = 8192;
	/// Shortest average time between two reads of a package's counters; 0:
	/// a read at each context switch.
	std::chrono::nanoseconds resolution = std::chrono::microseconds(100);
	/// Open a copy of each event for each CPU, as for kernels before 6.8,
	/// where a CPU can read only its own events.
	bool each_cpu = false;
	/// Do not use bpf_loop(), as for kernels before 5.17.
	bool bounded_loops = false;
};

/// The share of a task in one package and one cgroup.  A task that ran in several
/// packages, or that moved to another cgroup, has several shares.
/// By tree, the pids, the start time and the name are those of the process at the root
/// of the tree.  By command, the share of all other tasks has no pid, and shares have no
/// cgroup; by cgroup, shares have only the cgroup.
struct task_share {
	/// Start time, which tells apart tasks that had the same pid; id of the
	/// cgroup.
	uint64_t start_time = 0, cgroup = 0;
	uint32_t pid = 0, tgid = 0;
	unsigned package = 0; ///< index in topology::packages()
	std::string comm;     ///< last known name of the task
	uint64_t cpu_ns = 0;  ///< time on CPUs of the package
	std::vector<fixed_count> counts; ///< by column
};

/// The account of a package.
struct package_account {
	int id = 0; ///< of the package
	/// Time from the last read of the account before to the last read of
	/// this account; 0 if the account has the package's first read.
	uint64_t ns = 0;
	std::vector<uint64_t> totals; ///< counts of the counters, by column
	std::vector<uint64_t> idle;   ///< part of totals while no task ran
	uint64_t idle_ns = 0;	      ///< time while no task ran
	/// Counts and CPU time of tasks that are not in account::tasks.
	std::vector<fixed_count> other;
	uint64_t other_ns = 0;
	/// merged: number of shares that were added to other because the account
	/// had more than max_tasks; the least active tasks are merged.  dropped:
	/// number of time slices that were added to other because the programs
	/// had no room for their tasks.
	uint64_t merged = 0, dropped = 0;
	/// Counts that the programs have not divided among tasks at the end of
	/// this account and of the account before, by column.  A division rounds
	/// down, and leaves usually far less than a count.
	std::vector<fixed_count> remainder, remainder_before;
};

/// The counts since the last account.  In each package and column, totals is
/// exactly the sum of the tasks' counts, other, idle and remainder, less
/// remainder_before.
struct account {
	/// Sorted by start time, cgroup, pid and package.
	std::vector<task_share> tasks;
	std::vector<package_account> packages; ///< as in topology::packages()
	/// Context switches that the programs skipped since the start, as another
	/// CPU held a lock for longer than 10 ms.  The time until the CPU's next
	/// switch is charged to the task before the skipped switch.
	uint64_t missed = 0;
	/// Tasks since the start beyond attribution_options::max_followed: they
	/// and their descendants are not in the tree of the task that started
	/// them.
	uint64_t unfollowed = 0;
	/// Context switches and polls of CPUs since the start; reads of a
	/// package's counters since the start.
	uint64_t looks = 0, reads = 0;
	/// Faults since the last account, one line per fault.
	std::vector<std::string> warnings;
};

class attribution {
public:
	/// Open the events and load the programs.  From now on, tasks that are
	/// started get into a tree.
	/// @p machine must outlive the object.
	/// Errors: errc::permission, errc::unsupported (no BTF, kernel too
	/// old), errc::conflict (a box has no free counter), and the errors of
	/// uncore::perf_events::open_on().
	static uncore::result<std::unique_ptr<attribution>>
	open(attribution_options options, const uncore::topology &machine);
	/// Begin to count.
	uncore::result<void> enable();
	/// open() and enable().
	static uncore::result<std::unique_ptr<attribution>>
	start(attribution_options options, const uncore::topology &machine);

	~attribution();

	/// Return the id of the cgroup in which this thread was when it called
	/// open().
	uint64_t launcher_cgroup() const;

	/// Open events on CPUs that came online, and empty the programs' map of
	/// shares before the map is full.  Call several times a second.
	uncore::result<void> tend();
	/// Read the counters, and return the account since the last take(), or
	/// since the start.
	uncore::result<account> take();
	/// Detach the programs, and read the counters once more.  The next
	/// take() returns the last account.
	void stop();

private:
	struct state;

	attribution();
	std::unique_ptr<state> state_;
};

} // namespace cli
