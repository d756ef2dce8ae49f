// SPDX-License-Identifier: GPL-2.0-or-later
// Samples a box's clock, to check that overflows of its counter interrupt the CPU.  The
// driver also polls with a timer, and so finds overflows that gave no interrupt.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

namespace cli {

/// Result of sample_clock().  The numbers of overflows and the frozen part are 0 with
/// other drivers than xeon_uncore.
struct sampled {
	uint64_t intervals = 0;		 ///< number of samples, less 1
	std::chrono::nanoseconds span{}; ///< time from first to last sample
	uint64_t overflows = 0;		 ///< handled by the driver
	uint64_t by_timer = 0;		 ///< found by the timer
	/// Part of the time for which the box's package was frozen, 0 to 1: an
	/// overflow freezes the package until the driver has handled it.
	double frozen = 0;
	/// The kernel has lost samples; the kernel has throttled sampling.
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
