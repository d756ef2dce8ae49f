// SPDX-License-Identifier: GPL-2.0-or-later
// Internals of attribution.  attribution.cpp loads the programs and has the
// interface, attribution_events.cpp opens events, attribution_accounts.cpp
// empties the maps and closes accounts, attribution_hotplug.cpp follows hotplug
// of CPUs and finds dead boxes.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attribution.h"
#include "attribution.skel.h"
#include "attribution/attribution.hpp"
#include "attribution/bpf_support.hpp"
#include "perf_events.hpp"

namespace cli {

/// An event, and the packages and CPUs on which the event is open.  The package's
/// event has the counter of the box.  Kernels before 6.8 let a CPU read only its own
/// events; there each CPU has a copy, a passive event that follows the counter.
struct attribution_counter {
	uncore::event event;
	unsigned column = 0; ///< index in attribution_options::columns
	std::map<unsigned, uncore::perf_events>
		open; ///< package's events, by index of the package
	std::map<int, uncore::perf_events> copies; ///< by CPU
	/// By index of the package: number that is added to the event's count.
	/// An event that is opened again, after all CPUs of the package were
	/// offline, begins at another count; with this number the programs
	/// see no jump.
	std::map<unsigned, uint64_t> shift;
	std::set<unsigned> dead; ///< packages whose box is dead
};

/// Check that a box is not dead: its hardware answers register accesses.  Open an
/// event to check, as the events of a dead box that are open keep their last count
/// and report no error.
/// @return false when the event's box is dead for certain.
bool box_answers(const uncore::event &event, int cpu);

/// Start time, cgroup, pid and package of a share.
using share_key = std::tuple<uint64_t, uint64_t, uint32_t, unsigned>;

/// A struct, not a type with a function as its argument: the functions of the
/// skeleton are static, so each file would have another type.
struct skeleton_deleter {
	void operator()(attribution_bpf *programs) const;
};

struct attribution::state {
	attribution_options options;
	const uncore::topology *machine = nullptr;
	std::unique_ptr<attribution_bpf, skeleton_deleter> programs;
	std::unique_ptr<bpf_link, bpf_deleter<bpf_link__destroy>> link,
		hotplug_link, fork_link, free_link;
	std::vector<attribution_counter> counters;
	std::map<int, uncore::perf_events> weights; ///< weight events, by CPU
	unsigned n_cpus = 0; ///< CPUs that may ever be online
	bool shared = false; ///< all CPUs of a package can read its event
	bool stopped = false;
	uint32_t epoch = 0; ///< number of flips; even: shares_even is in use
	std::map<int, unsigned> cpus; ///< online CPUs: index of the package
	/// By CPU: how often the CPU had gone offline when its events were
	/// opened.  The programs count this as well: if their number is larger,
	/// the events are lost.
	std::vector<uint64_t> departures;
	/// By package: the programs' state at the end of the last account.
	std::vector<attr_state> before;
	std::chrono::steady_clock::time_point last_poll;
	// The open account.
	std::map<share_key, task_share> tasks;
	std::vector<package_account> packages;
	std::vector<std::string> warnings;
	/// By tree: last known names of roots, by start time and pid.
	std::map<std::pair<uint64_t, uint32_t>, std::string> root_names;
	uint64_t unfollowed = 0; ///< at the end of the last account

	size_t n_packages() const { return machine->packages().size(); }
	size_t n_columns() const { return options.columns.size(); }

	uncore::result<void> prepare();
	uncore::result<void> load();
	bool follows() const;
	uncore::result<void> follow();
	uncore::result<void> probe_sharing();
	uncore::result<void> open_everywhere();
	uncore::result<void> open_on(attribution_counter &c, size_t index,
				     int cpu);
	uncore::result<void> open_weight(int cpu);
	uncore::result<void> open_cpu(int cpu);
	bool went_offline(int cpu) const;
	bool any_went_offline(unsigned package) const;
	static bool wait_to_retry(unsigned &tries);
	bool drop_offline(const uncore::error &error, unsigned &tries);
	bool exclude_dead_boxes();
	void warn_single_reader();
	bool has_copies(const attribution_counter &c) const;
	uncore::result<void> open_counter(attribution_counter &c, size_t index,
					  unsigned pkg);
	uncore::result<void> open_copy(attribution_counter &c, size_t index,
				       int cpu);
	uncore::result<void> set_event(bpf_map *map, uint32_t key, int fd);
	void delete_event(bpf_map *map, uint32_t key);
	uncore::result<uint64_t> read_base(int fd);
	uncore::result<void> set_base(size_t index, int cpu, uint64_t base);
	uncore::result<void> begin(attribution_counter &c, size_t index,
				   unsigned pkg, uint64_t count);
	uncore::result<void> attach();
	int run(bpf_program *program, int cpu, uint64_t argument);
	void poll_cpus();
	uncore::result<void> flip();
	uncore::result<void> drain();
	void add_share(const attr_key &key, const attr_share &share);
	uncore::result<void> drain_map(bpf_map *map);
	void drain_dropped(unsigned parity);
	void merge(size_t max_rows);
	void follow_hotplug();
	/// @p departures_seen: the programs' number, read before the CPU was
	/// seen online
	void cpu_online(int cpu, uint64_t departures_seen);
	void cpu_offline(int cpu);
	void find_dead_boxes();
	void reset_accounts();
	void name_root(task_share &root);
	void warn_unfollowed();
	uncore::result<account> settle();
	uncore::result<void> check_sums(const account &a) const;
};

/// Get the CPU of a package on which to open a PMU's events: from the PMU's cpumask,
/// or another online CPU of the package; -1 without an online CPU.
int cpu_for(const uncore::pmu_info &pmu, const std::map<int, unsigned> &cpus,
	    unsigned package);

} // namespace cli
