// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers as people read them.
#pragma once

#include <string>
#include <string_view>

namespace cli {

/// "12,345,678"; "-" for not a number.
std::string grouped(double count);

/// A value and its unit, with a prefix where the unit is bytes: "1.50 GiB",
/// "37.5 %", "2,345", "-" for not a number.
std::string human(double value, std::string_view unit);

/// 12.3M: three digits or so, and what they are thousands of; @p
/// binary: 12.3Mi, of 1024.
std::string short_number(double value, bool binary = false);

/// "50.0 %" of 0.5.
std::string percent(double part);

} // namespace cli
