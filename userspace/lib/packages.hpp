// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The packages of a machine and their CPUs, from sysfs.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include <uncore/topology.hpp>

namespace uncore {

/// List the packages of the online CPUs, ascending.  If packages have several
/// dies, each die is a package of the list: package::id.
std::vector<package> read_packages(const std::filesystem::path &sysfs);

/// The package with a CPU; nullptr if none has it.
const package *find_package(std::span<const package> packages, int cpu);

} // namespace uncore
