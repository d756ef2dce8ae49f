// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether the boxes of this machine do what the manual says.  Simulated
// hardware is only as right as its author's reading of the manual.  These
// checks measure real hardware, through any driver, and test properties of
// every machine: clocks of boxes of a type agree, counters of a frozen group
// count the same, parts add up to the whole, overflows reach their event,
// memory reads are counted.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

#include "checks/finding.hpp"
#include "checks/readiness.hpp"
#include "process/output_file.hpp"

namespace cli {

struct hardware_results {
	std::vector<finding> findings;
	nlohmann::ordered_json measured; ///< all numbers behind the findings
};

/// Check the boxes for half a minute, with progress on a terminal.
hardware_results check_hardware(const uncore::topology &machine);

/// Write the results into a report, and commit the report's file.  The report
/// includes everything that results may depend on: processor, microcode,
/// kernel, the driver's parameters, statistics and lines of the log.  The
/// report has no host names and no addresses.
/// Errors: errc::system.
uncore::result<void> write_report(output_file &report,
				  const machine_folders &folders,
				  const uncore::topology &machine,
				  const hardware_results &results);

} // namespace cli
