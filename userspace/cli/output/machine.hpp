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

/// What cpuinfo below @p proc says of the first CPU in @p field, such as
/// "model name"; nothing when it does not say.
std::optional<std::string> cpuinfo_field(const std::filesystem::path &proc,
					 std::string_view field);

/// The machine's name.
std::string host_name();

/// "0-17,36"
std::string cpu_list(std::span<const int> cpus);

/// "xeon_uncore", "intel_uncore"; "" for another.
const char *driver_name(uncore::pmu_driver driver);
/// The driver of the uncore PMUs, JSON's null where there is none.
nlohmann::ordered_json driver_name(const uncore::topology &machine);

} // namespace cli
