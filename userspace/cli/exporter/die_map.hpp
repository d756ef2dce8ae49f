// SPDX-License-Identifier: GPL-2.0-or-later
// The die map is the page of uncore serve that draws the machine.  It reads two JSON
// documents: a description of the machine, and a snapshot of its counts.  Recordings
// consist of the same documents (Documentation/die-map.rst).
#pragma once

#include <chrono>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "exporter/collector.hpp"
#include "exporter/limits.hpp"

namespace cli {

/// Value of "format", and the version of the format that this program writes.
inline constexpr const char *series_format = "uncore-series";
inline constexpr unsigned series_version = 1;

/// Describe this machine by name, processor and generation.  A recording whose
/// description differs is of another machine.
nlohmann::ordered_json describe_host(std::string_view generation);

/// Describe the machine: sockets, boxes, and counters in the order of a
/// snapshot's counts.
nlohmann::ordered_json describe(const collector &counters);

/// Add to a description of a machine what its box types mean on the die map: the role of
/// each box, and the interconnect.
void add_roles(nlohmann::ordered_json &document, std::string_view generation);

/// Make a snapshot: the counts of the last read, and the verdicts on the sockets.
/// @param read_at time of the last read.
nlohmann::ordered_json snapshot(const collector &counters,
				const limit_uses &uses,
				std::chrono::steady_clock::time_point read_at);

} // namespace cli
