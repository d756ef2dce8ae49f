// SPDX-License-Identifier: GPL-2.0-or-later
// Names and numbers of the machine: host, processor, CPUs, driver.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <uncore/topology.hpp>

namespace cli {

/// Return a field of the first CPU in cpuinfo below @p proc, such as "model
/// name"; nothing if the field is missing.
std::optional<std::string> cpuinfo_field(const std::filesystem::path &proc,
					 std::string_view field);

/// Return the machine's name.
std::string host_name();

/// "0-17,36"
std::string cpu_list(std::span<const int> cpus);

/// "xeon_uncore", "intel_uncore"; "" for another driver.
const char *driver_name(uncore::pmu_driver driver);
/// Return the driver of the uncore PMUs, JSON's null without PMUs.
nlohmann::ordered_json driver_name(const uncore::topology &machine);

} // namespace cli
