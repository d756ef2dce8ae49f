// SPDX-License-Identifier: GPL-2.0-or-later
// Checks text that other programs have chosen, such as names of tasks, files and events,
// before it is printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

/// A character of UTF-8; length 0: the text starts with other bytes.
struct character {
	uint32_t code = 0;
	size_t length = 0;
};

/// Return the first character of @p text, which must not be empty.  As RFC 3629 requires,
/// longer encodings than necessary and surrogates are not characters.
character first_character(std::string_view text);

/// Clean a text for terminals, labels, JSON, events and XML: UTF-8 on one line,
/// without commands of terminals.  Control characters, bytes that are not UTF-8
/// and characters that change the direction of the following text become
/// question marks.  Every text that another program chose passes this function
/// before it leaves the program.
std::string printable(std::string_view text);

/// Convert a text to lower case.
std::string lower(std::string_view text);

} // namespace cli
