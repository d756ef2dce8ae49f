// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers for people.
#pragma once

#include <string>
#include <string_view>

namespace cli {

/// "12,345,678"; "-" for not a number.
std::string grouped(double count);

/// Bytes in a unit of bytes, such as "MiB"; 0 for other units.
double bytes_in(std::string_view unit);

/// A value and its unit: "37.5 %", "2,345", "-" for not a number. Bytes have
/// binary prefixes, as the kernel's units of memory events, whatever the unit:
/// "1.500 GiB/s" of 1536 MiB/s.
std::string human(double value, std::string_view unit);

/// 12.3M: about three digits, and a prefix of thousands; @p binary: 12.3Mi, of
/// 1024.
std::string short_number(double value, bool binary = false);

/// "12.3 M/s"; "63.5 GiB/s" with the unit "B" and @p binary.
std::string per_second(double value, std::string_view unit = "",
		       bool binary = false);

/// "50.0 %" of 0.5.
std::string percent(double part);

} // namespace cli
