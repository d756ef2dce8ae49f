// SPDX-License-Identifier: GPL-2.0-or-later
// Internals of attribution, which its parts share: attribution.cpp loads the
// programs and has the interface, attribution_events.cpp opens events,
// attribution_accounts.cpp empties the maps and closes accounts,
// attribution_hotplug.cpp follows hotplug of CPUs and finds dead boxes.
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

/// An event, and where it is open.
struct attribution_counter {
	uncore::event event;
	unsigned column = 0;
	std::map<unsigned, uncore::perf_events>
		open; ///< by index of the package
	/// By CPU: copies, where a CPU cannot read its package's event.
	std::map<int, uncore::perf_events> copies;
	/// By index of the package: to be added to what the driver counts,
	/// since all CPUs of it were offline for a time.
	std::map<unsigned, uint64_t> shift;
	std::set<unsigned> dead; ///< packages whose box does not answer
};

/// Opens an event, as a dead box's open events keep their last count.
/// @return false when the event's box is dead for certain.
bool box_answers(const uncore::event &event, int cpu);

using share_key = std::tuple<uint64_t, uint64_t, uint32_t, unsigned>;

/// The skeleton's own functions are each file's, so a type made of one would
/// be.
struct skeleton_deleter {
	void operator()(attribution_bpf *programs) const;
};

struct attribution::state {
	attribution_options options;
	const uncore::topology *machine = nullptr;
	std::unique_ptr<attribution_bpf, skeleton_deleter> programs;
	std::unique_ptr<bpf_link, bpf_deleter<bpf_link__destroy>> link,
		hotplug_link;
	std::vector<attribution_counter> counters;
	std::map<int, uncore::perf_events> weights; ///< by CPU
	unsigned n_cpus = 0;
	bool shared = false; ///< one event a package serves its CPUs
	bool stopped = false;
	uint32_t epoch = 0;
	std::map<int, unsigned> cpus; ///< online: index of the package
	/// By CPU: departures when its events were opened.
	std::vector<uint64_t> departures;
	std::vector<attr_state> before;
	std::chrono::steady_clock::time_point looked;
	std::map<share_key, task_share> tasks;
	std::vector<package_account> packages;
	std::vector<std::string> warnings;

	size_t n_packages() const { return machine->packages().size(); }
	size_t n_columns() const { return options.columns.size(); }

	uncore::result<void> prepare();
	uncore::result<void> load();
	uncore::result<void> probe_sharing();
	uncore::result<void> open_everywhere();
	uncore::result<void> open_on(attribution_counter &c, size_t at,
				     int cpu);
	uncore::result<void> open_weight(int cpu);
	uncore::result<void> open_cpu(int cpu);
	bool went_offline(int cpu) const;
	bool any_went_offline(unsigned package) const;
	static bool ask_again(unsigned &tries);
	bool drop_offline(const uncore::error &why, unsigned &tries);
	bool leave_out_dead();
	void note_reading();
	bool has_copies(const attribution_counter &c) const;
	uncore::result<void> open_counter(attribution_counter &c, size_t at,
					  unsigned pkg);
	uncore::result<void> open_copy(attribution_counter &c, size_t at,
				       int cpu);
	uncore::result<void> put(bpf_map *map, uint32_t key, int fd);
	void take_out(bpf_map *map, uint32_t key);
	uncore::result<uint64_t> base_of(int fd);
	uncore::result<void> set_base(size_t at, int cpu, uint64_t base);
	uncore::result<void> begin(attribution_counter &c, size_t at,
				   unsigned pkg, uint64_t seen);
	uncore::result<void> attach();
	int run(bpf_program *program, int cpu, uint64_t argument);
	void look();
	uncore::result<void> flip();
	uncore::result<void> drain();
	void keep(const attr_key &key, const attr_share &share);
	uncore::result<void> drain_map(bpf_map *map);
	void drain_dropped(unsigned parity);
	void merge(size_t most);
	void follow_hotplug();
	/// @p departures_seen: departures, read before the CPU was seen online
	void cpu_online(int cpu, uint64_t departures_seen);
	void cpu_offline(int cpu);
	void find_dead_boxes();
	void reset_accounts();
	uncore::result<account> settle();
	uncore::result<void> check(const account &a) const;
};

/// The CPU of a package at which tools open a PMU's events, or -1.
int cpu_for(const uncore::pmu_info &pmu, const std::map<int, unsigned> &cpus,
	    unsigned package);

} // namespace cli
