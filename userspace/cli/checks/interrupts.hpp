// SPDX-License-Identifier: GPL-2.0-or-later
// Samples a box's clock, and counts overflows that the timer found.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

namespace cli {

struct sampled {
	uint64_t intervals = 0;		 ///< between two samples
	std::chrono::nanoseconds span{}; ///< first to last sample
	uint64_t overflows = 0;		 ///< handled by the driver
	uint64_t by_timer = 0;		 ///< handled without an interrupt
	/// Part of the time for which the box's package was frozen, 0 to 1: an
	/// overflow freezes the package until the driver has handled it.
	double frozen = 0;
	bool lost = false, throttled = false;
};

/// Sample a box's clock for @p time.
/// @param cpus CPUs to sample on; empty: the CPUs of the box's PMU.  Intervals
/// and span are those of the first CPU.
uncore::result<sampled> sample_clock(const uncore::topology &machine,
				     const uncore::pmu_info &box,
				     std::string_view event, uint64_t period,
				     std::vector<int> cpus,
				     std::chrono::milliseconds time);

} // namespace cli
