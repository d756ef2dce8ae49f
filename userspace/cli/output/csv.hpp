// SPDX-License-Identifier: GPL-2.0-or-later
// Comma-separated values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Format a comma-separated value, in quotes if necessary (RFC 4180), and a
/// line of values.
std::string csv_cell(std::string_view cell);
std::string csv_line(const std::vector<std::string> &cells);

/// Return the shortest decimal text that reads back as the same number; "" for
/// a value that is not finite.
std::string exact(double value);

} // namespace cli
