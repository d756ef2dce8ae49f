// SPDX-License-Identifier: GPL-2.0-or-later
// Text from elsewhere: names of tasks, files and events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

/// A character of UTF-8; length 0: the text does not start with one.
struct character {
	uint32_t code = 0;
	size_t length = 0;
};

/// The first character of @p text, which is not empty: in the shortest form
/// only, no surrogates, as RFC 3629 has it.
character first_character(std::string_view text);

/// @p text as it may be printed on a terminal, in JSON and in XML: UTF-8, one
/// line, without what a terminal takes for a command.  What is none of that
/// (control characters, bytes that are not UTF-8, characters that change the
/// direction of what follows) becomes a question mark.
std::string printable(std::string_view text);

/// In small letters.
std::string lower(std::string_view text);

} // namespace cli
