// SPDX-License-Identifier: GPL-2.0-or-later
#include "checks/interrupts.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <linux/perf_event.h>

#include <uncore/sampler.hpp>

namespace cli {

namespace {

/// The driver's statistics of a package; 0 with other drivers.
struct statistics {
	uint64_t overflows = 0, by_timer = 0, frozen_ns = 0;
	std::chrono::steady_clock::time_point time;
};

statistics read_statistics(int package)
{
	const auto read = [&](const char *name) {
		std::ifstream file(fmt::format(
			"/sys/module/xeon_uncore/package{}/{}", package, name));
		uint64_t value;

		return file >> value ? value : 0;
	};

	return {read("overflow_count"), read("overflow_timer_served"),
		read("overflow_frozen_ns"), std::chrono::steady_clock::now()};
}

/// Return the time in a sample's record, which follows 24 bytes with the identifier, the
/// address and the task.
uint64_t time_of(const perf_event_header &record)
{
	uint64_t time;

	std::memcpy(&time,
		    reinterpret_cast<const char *>(&record) + sizeof(record) +
			    24,
		    sizeof(time));
	return time;
}

} // namespace

uncore::result<sampled> sample_clock(const uncore::topology &machine,
				     const uncore::pmu_info &box,
				     std::string_view event, uint64_t period,
				     std::vector<int> cpus,
				     std::chrono::milliseconds time)
{
	const auto groups = uncore::parse_events(
		fmt::format("{}/{},period={}/", box.name, event, period),
		machine);
	uncore::sampling_options options;

	if (!groups)
		return groups.error();
	if (cpus.empty())
		cpus = box.cpus;
	const int first = cpus.front();
	options.cpus = cpus;
	auto opened = uncore::sampler::open(groups->front().terms[0].events,
					    machine, options);
	if (!opened)
		return opened.error();

	const int package = machine.package_of(first);
	const statistics before = read_statistics(package);
	if (auto outcome = opened->enable(); !outcome)
		return outcome.error();
	std::this_thread::sleep_for(time);
	if (auto outcome = opened->disable(); !outcome)
		return outcome.error();

	const statistics after = read_statistics(package);

	sampled result;
	uint64_t samples = 0, begin = 0, end = 0;
	opened->drain([&](const perf_event_header &record, int cpu) {
		result.lost |= record.type == PERF_RECORD_LOST;
		result.throttled |= record.type == PERF_RECORD_THROTTLE;
		if (record.type != PERF_RECORD_SAMPLE || cpu != first)
			return;
		end = time_of(record);
		if (!samples++)
			begin = end;
	});
	result.intervals = samples ? samples - 1 : 0;
	result.span = std::chrono::nanoseconds(end - begin);
	result.overflows = after.overflows - before.overflows;
	result.by_timer = after.by_timer - before.by_timer;
	const std::chrono::duration<double, std::nano> elapsed =
		after.time - before.time;
	result.frozen =
		std::min(1.0, double(after.frozen_ns - before.frozen_ns) /
				      elapsed.count());
	return result;
}

} // namespace cli
