// SPDX-License-Identifier: GPL-2.0-or-later
// Fits text into the columns of a terminal.  A character may have no, one or two columns,
// and an escape sequence for emphasis has none.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Return the number of columns of a text on a terminal.
size_t width(std::string_view text);

/// Return the number of columns of a terminal; 0 if @p out is not a terminal.
size_t columns_of(std::FILE *out);
/// Cut each line of @p text to a number of columns; 0: no limit.
std::string fit(std::string_view text, size_t columns);
/// Cut a line at its end, "Reads of memory tha..."; return "" if there is only room for the
/// three dots.
std::string fit_end(std::string_view text, size_t columns);
/// Cut a line in its middle, "/kubepods.slice...d4c.scope": paths begin alike
/// and differ at their ends.
std::string fit_middle(std::string_view text, size_t columns);

/// Break @p text into lines of a number of columns (0: one line), between words
/// where possible.  The first line begins with @p head, the other lines with as
/// many spaces, half of the columns at most.
std::vector<std::string> wrap(std::string head, std::string_view text,
			      size_t columns);
/// Break each line of @p text that is wider than a number of columns (0: none),
/// so that no value is cut off.
std::string wrap_lines(std::string_view text, size_t columns);

} // namespace cli
