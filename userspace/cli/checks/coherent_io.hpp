// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether a socket's two boxes of coherent IO (IRP) are two units, as
// the manual says, or one unit that is counted twice.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include <uncore/topology.hpp>

#include "checks/finding.hpp"

namespace cli {

/// Count device writes in both boxes, ten times; do nothing without two boxes.
/// @param measured array for each count.
std::vector<finding> check_coherent_io(const uncore::topology &machine,
				       nlohmann::ordered_json &measured);

} // namespace cli
