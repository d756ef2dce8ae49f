// SPDX-License-Identifier: GPL-2.0-or-later
// Text behind a number of stat or metric: the rate, and the error.
#pragma once

#include <string>

#include "counting/count_report.hpp"

namespace cli {

/// Format a rate: "45.64 GiB/s", "12.3 M/s".  Empty if the rate is not finite.
std::string rate_text(double rate, std::string_view unit);
/// Format the rate of a line's count in @p seconds.  Empty for a metric, for
/// duration_time and without a count.
std::string rate_text(const report_line &line, double seconds);

/// Return whether the number is 0 and was counted for a part of the time only.  Then
/// the event may have occurred while it was not counted.
bool none_seen(const report_line &line);

/// Return the largest number of events, with 95 % confidence, for which none_seen() is
/// true; in the event's unit.
double upper_bound(const report_line &line);

/// Describe the scaling of a number that was counted for a part of the time:
/// "±1.23 %, counted 45.0 % of the time", "none seen in 4.5 % of the time".  Empty for
/// other numbers.
std::string scaling_text(const report_line &line);

} // namespace cli
