// SPDX-License-Identifier: GPL-2.0-or-later
// Text in the columns of a terminal.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// How many columns a text takes on a terminal.
size_t width(std::string_view text);

/// How many columns the terminal has that @p out is; 0 when it is none.
size_t columns_of(std::FILE *out);
/// Cut each line of @p text to a number of columns; 0: leave them.
std::string fit(std::string_view text, size_t columns);
/// A line cut at its end, "Reads of memory tha..."; empty where there is room
/// for the ellipsis alone.
std::string fit_end(std::string_view text, size_t columns);
/// A line cut in its middle, "/kubepods.slice...d4c.scope": paths begin alike and
/// end with what tells them apart.
std::string fit_middle(std::string_view text, size_t columns);

/// Break @p text into lines of a number of columns (0: one line), between words
/// where possible.  The first line begins with @p head, the others with as many
/// spaces as leave room.
std::vector<std::string> wrap(std::string head, std::string_view text,
			      size_t columns);
/// Break each line of @p text that is wider than a number of columns (0: none),
/// so that no value is cut off.
std::string wrap_lines(std::string_view text, size_t columns);

} // namespace cli
