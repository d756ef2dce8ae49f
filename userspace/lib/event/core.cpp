// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Events that belong to no PMU of sysfs: perf's generic hardware, cache and
/// software events, raw rNNN, and duration_time.

#include "event/parts.hpp"

#include <linux/perf_event.h>

#include "text.hpp"

namespace uncore {

namespace {

struct generic_event {
	std::string_view name;
	uint32_t type;
	uint64_t config;
};

constexpr generic_event generic_events[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-instructions", PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"idle-cycles-frontend", PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"idle-cycles-backend", PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"context-switches", PERF_TYPE_SOFTWARE,
	 PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"alignment-faults", PERF_TYPE_SOFTWARE,
	 PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", PERF_TYPE_SOFTWARE,
	 PERF_COUNT_SW_EMULATION_FAULTS},
	{"dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
	{"duration_time", event::duration_time, 0},
};

struct cache_word {
	std::string_view name;
	uint64_t value;
};

constexpr cache_word caches[] = {
	{"L1-dcache", PERF_COUNT_HW_CACHE_L1D},
	{"L1-icache", PERF_COUNT_HW_CACHE_L1I},
	{"LLC", PERF_COUNT_HW_CACHE_LL},
	{"dTLB", PERF_COUNT_HW_CACHE_DTLB},
	{"iTLB", PERF_COUNT_HW_CACHE_ITLB},
	{"branch", PERF_COUNT_HW_CACHE_BPU},
	{"node", PERF_COUNT_HW_CACHE_NODE},
};

constexpr cache_word accesses[] = {
	{"load", PERF_COUNT_HW_CACHE_OP_READ},
	{"store", PERF_COUNT_HW_CACHE_OP_WRITE},
	{"prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH},
};

/// Encode LLC-loads, LLC-load-misses, L1-dcache-prefetches, ...
std::optional<uint64_t> cache_config(std::string_view name)
{
	for (const cache_word &cache : caches) {
		if (!same_name(name.substr(0, cache.name.size()), cache.name))
			continue;
		const std::string_view rest = name.substr(cache.name.size());
		for (const cache_word &access : accesses) {
			const std::string hit = '-' + std::string(access.name);
			const uint64_t config = cache.value | access.value << 8;

			if (same_name(rest, hit + "s") ||
			    same_name(rest, hit + "es"))
				return config |
				       PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16;
			if (same_name(rest, hit + "-misses"))
				return config | PERF_COUNT_HW_CACHE_RESULT_MISS
							<< 16;
		}
	}
	return std::nullopt;
}

std::optional<event> find_core(std::string_view name)
{
	event core_event;

	for (const generic_event &entry : generic_events) {
		if (!same_name(entry.name, name))
			continue;
		core_event.type = entry.type;
		core_event.config = entry.config;
		return core_event;
	}
	if (const auto config = cache_config(name)) {
		core_event.type = PERF_TYPE_HW_CACHE;
		core_event.config = *config;
		return core_event;
	}
	if (name.size() > 1 && name.front() == 'r') {
		const auto config = parse_hex(name.substr(1));

		if (config) {
			core_event.type = PERF_TYPE_RAW;
			core_event.config = *config;
			return core_event;
		}
	}
	return std::nullopt;
}

/// List the boxes that have an event of this name, as event strings.
std::vector<std::string> on_boxes(const catalogue &names, std::string_view name)
{
	std::vector<std::string> texts;

	for (const event_info &info : names.events())
		if (same_name(info.name, name) && texts.size() < 3)
			texts.push_back(std::string(info.box) + '/' +
					std::string(info.name) + '/');
	return texts;
}

error unknown(const catalogue &names, const written_event &written)
{
	if (const std::string foreign = foreign_spelling(written.text, names);
	    !foreign.empty())
		return {errc::not_found, foreign};
	const std::string name = quote(written.text);
	const auto boxes = on_boxes(names, written.name);
	const auto near = nearest_names(written.name, core_names(), 3);
	std::string suggestion;

	for (const std::string &box : boxes)
		suggestion += (suggestion.empty() ? "" : " or ") + box;
	if (suggestion.empty())
		suggestion = join(near, ", ");
	if (!suggestion.empty())
		return {errc::not_found, "there is no event " + name +
						 ": did you mean " +
						 suggestion + '?'};
	if (names.box(cut(written.name, '_').second) ||
	    names.box(cut(written.name, '_').first))
		return {errc::invalid,
			name + " is a PMU without an event: write it as PMU/EVENT/"};
	if (!written.modifiers.empty() && written.modifiers.size() > 4)
		return {errc::unsupported,
			"there is no event " + name +
				": tracepoints are not counted here"};
	return {errc::not_found,
		"there is no event " + name +
			"; the uncore's are written PMU/EVENT/, see 'uncore list'"};
}

} // namespace

std::vector<std::string_view> core_names()
{
	std::vector<std::string_view> names;

	for (const generic_event &entry : generic_events)
		names.push_back(entry.name);
	return names;
}

result<event> resolve_core_name(const written_event &written,
				const topology &machine)
{
	auto resolved = find_core(written.name);

	if (!resolved)
		return unknown(catalogue::of(machine), written);
	resolved->name = written.text;
	resolved->text = written.text;
	if (resolved->type == event::duration_time) {
		resolved->unit = "ns";
		if (!written.modifiers.empty())
			return error{errc::invalid,
				     "duration_time takes no modifiers"};
	}
	const auto applied = apply_modifiers(written, false, *resolved);
	if (!applied)
		return applied.error();
	return std::move(*resolved);
}

} // namespace uncore
