// SPDX-License-Identifier: GPL-2.0-or-later
// Columns that uncore top counts and shows, from names of events and metrics.
#pragma once

#include <string>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

#include "attribution/attribution.hpp"
#include "attribution/top_table.hpp"

namespace cli {

/// Get the events of the memory reads and writes of the channels, in columns "read" and
/// "write".  uncore serve counts the same two events.  Equal events share a counter of
/// the box, so that both can run; other events would find no free counter.
std::string reads_and_writes(const uncore::topology &machine);

/// Get the events to count if the user chooses none: those of the default preset.
std::string default_events(const uncore::topology &machine);

/// Describe the presets: "memory (...), bus (...)".
std::string describe_presets();

/// Add the columns of @p events (lists of events, or of names such as "memory")
/// and @p metrics (lists of metrics and metric groups) to @p counted and @p
/// shown.  Without events and metrics, add memory traffic.
/// Errors: of uncore::parse_events(); errc::not_found (no such metric),
/// errc::invalid (twice the same name, a sample period), errc::unsupported (a
/// metric that needs an event of the cores).
uncore::result<void> add_columns(const std::vector<std::string> &events,
				 const std::vector<std::string> &metrics,
				 const uncore::topology &machine,
				 std::vector<attribution_column> &counted,
				 top_settings &shown);

} // namespace cli
