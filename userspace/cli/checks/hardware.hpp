// SPDX-License-Identifier: GPL-2.0-or-later
// Do the boxes of this machine do what the manual says?  Simulated hardware can
// only be as right as who wrote it; this asks the real one, through the driver
// that there is, by what must hold on any machine: clocks of boxes of a type
// agree, counters of a frozen group count the same, parts add up to the whole,
// overflows reach the event that they are for, memory that is read is counted.
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
	nlohmann::ordered_json measured; ///< each number behind them
};

/// Takes half a minute and says on a terminal what it is at.
hardware_results check_hardware(const uncore::topology &machine);

/// Writes into a report, and gives it its name: the results, and what they may
/// depend on: processor, microcode, kernel,
/// the driver's parameters, statistics and lines of the log.  No names of hosts,
/// no addresses.
/// Errors: errc::system.
uncore::result<void> write_report(output_file &report,
				  const machine_folders &where,
				  const uncore::topology &machine,
				  const hardware_results &results);

} // namespace cli
