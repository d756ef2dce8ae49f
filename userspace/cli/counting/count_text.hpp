// SPDX-License-Identifier: GPL-2.0-or-later
// Text behind a number of stat or metric: its rate, and how certain it is.
#pragma once

#include <string>

#include "counting/count_report.hpp"

namespace cli {

/// "45.64 GiB/s", "12.3 M/s"; empty for a metric, for a time and where there is
/// no count.
std::string rate_text(const report_line &line, double seconds);

/// Is the number a 0 of which only a part of the time was counted?
bool none_seen(const report_line &line);

/// The largest value, with 95 % confidence, of an event that was not seen.
double upper_bound(const report_line &line);

/// "±1.23 %, counted 45.0 % of the time", "none seen in 4.5 % of the time";
/// empty for a number that is not scaled, and where there is no number.
std::string scaling_text(const report_line &line);

} // namespace cli
