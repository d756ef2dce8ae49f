// SPDX-License-Identifier: GPL-2.0-or-later
// Comma-separated values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// A comma-separated value, in quotes where it needs them (RFC 4180), and a
/// line of them.
std::string csv_cell(std::string_view cell);
std::string csv_line(const std::vector<std::string> &cells);

/// The shortest decimal text that reads back as the same number; "" for none.
std::string exact(double value);

} // namespace cli
