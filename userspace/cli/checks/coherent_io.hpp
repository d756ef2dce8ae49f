// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether a socket's two IRP boxes (coherent IO) are two units, as the manual
// says, or one unit that is counted twice.  The sources disagree (design.rst, hswep_irp).
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include <uncore/topology.hpp>

#include "checks/finding.hpp"

namespace cli {

/// Count writes of devices in both boxes, ten times.  Do nothing on a machine without
/// two boxes.
/// @param measured array to which the counts are added.
std::vector<finding> check_coherent_io(const uncore::topology &machine,
				       nlohmann::ordered_json &measured);

} // namespace cli
