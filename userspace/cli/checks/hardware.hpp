// SPDX-License-Identifier: GPL-2.0-or-later
// uncore check --hardware: checks whether the boxes of this machine do what the manual
// says.  Other tests run on simulated hardware, which is only as right as its author's
// reading of the manual.  These checks measure real hardware, through any driver, and
// test properties of every machine: the clocks of boxes of a type agree, two counters of
// one event in a group agree, the counts of parts add up to the count of the whole, each
// overflow gives a sample, and memory reads are counted.
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

/// Write the results into a report, and commit the report's file.  The report also has
/// everything on which the results may depend: processor, microcode, kernel, and the
/// driver's parameters, statistics and log.  It has no host names and no addresses, as
/// users attach it to public issues.
/// Errors: errc::system.
uncore::result<void> write_report(output_file &report,
				  const machine_folders &folders,
				  const uncore::topology &machine,
				  const hardware_results &results);

} // namespace cli
