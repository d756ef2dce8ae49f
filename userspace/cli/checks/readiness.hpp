// SPDX-License-Identifier: GPL-2.0-or-later
// Is this machine ready to count uncore events, and what to do where it is not.
#pragma once

#include <filesystem>
#include <vector>

#include <uncore/topology.hpp>

#include "checks/finding.hpp"

namespace cli {

/// Where a machine is looked at; tests give recorded ones.
struct machine_folders {
	std::filesystem::path sys = "/sys";
	std::filesystem::path proc = "/proc";
	std::filesystem::path modules = "/lib/modules";
};

std::vector<finding> check_readiness(const machine_folders &where,
				     const uncore::topology &machine);

} // namespace cli
