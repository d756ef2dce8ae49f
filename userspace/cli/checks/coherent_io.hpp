// SPDX-License-Identifier: GPL-2.0-or-later
// Are the two boxes of coherent IO (IRP) of a socket two units, as the manual
// has it, or one that is counted twice?
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include <uncore/topology.hpp>

#include "checks/finding.hpp"

namespace cli {

/// Counts what devices write in both boxes, ten times; nothing where there are
/// not two.
/// @param measured where each count is added.
std::vector<finding> check_coherent_io(const uncore::topology &machine,
				       nlohmann::ordered_json &measured);

} // namespace cli
