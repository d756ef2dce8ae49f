// SPDX-License-Identifier: GPL-2.0-or-later
// Emphasis on a terminal that shows colour.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace cli {

/// @return whether the output is a terminal that shows colour: NO_COLOR not
/// set, TERM not dumb.
bool colour(std::FILE *out);

/// Return text with emphasis; without colour(), plain text.
std::string bold(std::FILE *out, std::string_view text);
std::string dim(std::FILE *out, std::string_view text);
std::string red(std::FILE *out, std::string_view text);
std::string yellow(std::FILE *out, std::string_view text);
std::string green(std::FILE *out, std::string_view text);

} // namespace cli
