// SPDX-License-Identifier: GPL-2.0-or-later
// Text behind a number of stat or metric: the rate, and the error.
#pragma once

#include <string>

#include "counting/count_report.hpp"

namespace cli {

/// "45.64 GiB/s", "12.3 M/s"; empty if the rate is not finite.
std::string rate_text(double rate, std::string_view unit);
/// The same of a line; empty for a metric, for a time and without a count.
std::string rate_text(const report_line &line, double seconds);

/// Return whether the number is a 0 that was counted for a part of the time.
bool none_seen(const report_line &line);

/// Return the largest value, with 95 % confidence, of an event without counts.
double upper_bound(const report_line &line);

/// "±1.23 %, counted 45.0 % of the time", "none seen in 4.5 % of the time";
/// empty for a number that is not scaled, and without a number.
std::string scaling_text(const report_line &line);

} // namespace cli
