// SPDX-License-Identifier: GPL-2.0-or-later
// The die map's documents: what the machine is, and what its counters have at a
// time.  The page, recordings and tools read the same two
// (Documentation/die-map.rst).
#pragma once

#include <chrono>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "exporter/collector.hpp"
#include "exporter/limits.hpp"

namespace cli {

/// What "format" says, and the version of it that this program writes.
inline constexpr const char *series_format = "uncore-series";
inline constexpr unsigned series_version = 1;

/// Name, processor and generation of this machine, by which a recording of
/// another one is recognised.
nlohmann::ordered_json describe_host(std::string_view generation);

/// The machine: sockets, boxes, counters, and in which order a snapshot has
/// their counts.
nlohmann::ordered_json describe(const collector &counters);

/// The counts of the last read, which was at that time, and what limited the
/// sockets before it.
nlohmann::ordered_json snapshot(const collector &counters,
				const limit_uses &uses,
				std::chrono::steady_clock::time_point read_at);

} // namespace cli
