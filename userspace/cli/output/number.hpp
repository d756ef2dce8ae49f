// SPDX-License-Identifier: GPL-2.0-or-later
// Formats numbers for people.
#pragma once

#include <string>
#include <string_view>

namespace cli {

/// "12,345,678"; "-" for not a number.
std::string grouped(double count);

/// Return the number of bytes in a unit such as "MiB"; 0 if the unit is not one of bytes.
double bytes_in(std::string_view unit);

/// Format a value and its unit: "37.50 %", "2,345"; "-" for not a number.  Values in
/// any unit of bytes get the binary prefix that fits: 1536 in "MiB/s" is "1.500 GiB/s".
std::string human(double value, std::string_view unit);

/// Format about three digits and a prefix: "12.3M", in powers of 1000; @p binary: "12.3Mi",
/// in powers of 1024.
std::string short_number(double value, bool binary = false);

/// Format a rate: "12.3 M/s"; "63.5 GiB/s" with the unit "B" and @p binary.
std::string per_second(double value, std::string_view unit = "",
		       bool binary = false);

/// Format a part as a percentage: "50.0 %" for 0.5.
std::string percent(double part);

} // namespace cli
