// SPDX-License-Identifier: GPL-2.0-or-later
// Emphasis on a terminal that shows colour.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace cli {

/// @return whether the output is for a person's terminal that shows colour:
/// a terminal, NO_COLOR not set, TERM not dumb.
bool colour(std::FILE *out);

/// Text with emphasis; without colour(), plain.
std::string bold(std::FILE *out, std::string_view text);
std::string dim(std::FILE *out, std::string_view text);
std::string red(std::FILE *out, std::string_view text);
std::string yellow(std::FILE *out, std::string_view text);
std::string green(std::FILE *out, std::string_view text);

} // namespace cli
