// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether this machine is ready to count uncore events, with advice.
#pragma once

#include <filesystem>
#include <vector>

#include <uncore/topology.hpp>

#include "checks/finding.hpp"

namespace cli {

/// Folders of the machine to check; tests pass recorded folders.
struct machine_folders {
	std::filesystem::path sys = "/sys";
	std::filesystem::path proc = "/proc";
	std::filesystem::path modules = "/lib/modules";
};

std::vector<finding> check_readiness(const machine_folders &folders,
				     const uncore::topology &machine);

} // namespace cli
