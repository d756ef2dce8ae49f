// SPDX-License-Identifier: GPL-2.0-or-later
// Sampling of a box's clock, and who found its overflows.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

namespace cli {

struct sampled {
	uint64_t intervals = 0;	       ///< from a sample to the next one
	std::chrono::nanoseconds span{}; ///< from the first to the last
	uint64_t overflows = 0;	       ///< that the driver handled in that time
	uint64_t by_timer = 0;	       ///< of these, without an interrupt
	/// Part of the time for which the box's package was frozen, 0 to 1:
	/// overflows freeze it until they are handled.
	double frozen = 0;
	bool lost = false, throttled = false;
};

/// @param cpus on which it is sampled; empty: those that the box's PMU names.
/// With several of them, intervals and span are the first one's.
uncore::result<sampled> sample_clock(const uncore::topology &machine,
				     const uncore::pmu_info &box,
				     std::string_view event, uint64_t period,
				     std::vector<int> cpus,
				     std::chrono::milliseconds time);

} // namespace cli
