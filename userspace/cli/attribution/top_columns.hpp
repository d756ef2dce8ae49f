// SPDX-License-Identifier: GPL-2.0-or-later
// What uncore top is asked for: from names of events and metrics to the columns
// that are counted and shown.
#pragma once

#include <string>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

#include "attribution/attribution.hpp"
#include "attribution/top_table.hpp"

namespace cli {

/// What the channels read and write apart, in columns "read" and "write": the
/// events that uncore serve counts.  Equal events share a counter, and others
/// would find none left beside it.
inline constexpr const char *reads_and_writes =
	"imc/cas_count.rd,name=read/,imc/cas_count.wr,name=write/";

/// Adds what @p events (lists of events, or of names such as "memory") and @p
/// metrics (lists of metrics and groups of them) need to what is counted, and
/// to what is shown.  Neither: memory traffic.
/// Errors: of uncore::parse_events(); errc::not_found (no such metric),
/// errc::invalid (twice the same name, a period), errc::unsupported (a metric
/// that needs what the cores count).
uncore::result<void> add_columns(const std::vector<std::string> &events,
				 const std::vector<std::string> &metrics,
				 const uncore::topology &machine,
				 std::vector<attribution_column> &counted,
				 top_settings &shown);

} // namespace cli
