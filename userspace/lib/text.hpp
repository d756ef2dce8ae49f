// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Small things that parsers need: numbers, splitting, names alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uncore {

bool is_digit(char c);
/// A letter, a digit or _.
bool is_word(char c);
bool is_space(char c);
/// Not to be printed as it is.
bool is_control(char c);

std::string_view trim(std::string_view text);
/// @p text up to the first @p at, and what follows; all of it and nothing when
/// there is none.
std::pair<std::string_view, std::string_view> cut(std::string_view text,
						  char at);
std::vector<std::string_view> split(std::string_view text, char at);

/// The whole text as a number: decimal, or hexadecimal after 0x.
std::optional<uint64_t> parse_number(std::string_view text);
/// The same without a prefix.
std::optional<uint64_t> parse_hex(std::string_view text);
/// A finite number such as "6.103515625e-5".
std::optional<double> parse_decimal(std::string_view text);

/// Compares without regard to case; like strcmp().
int compare_names(std::string_view a, std::string_view b);
bool same_name(std::string_view a, std::string_view b);

/// Does @p name match @p pattern with * and ?
bool match_pattern(std::string_view pattern, std::string_view name);

/// @p text for a message: short, and without control characters.
std::string quote(std::string_view text);
/// A message that may hold what was read: one line, of bearable length.
std::string one_line(std::string_view message);
/// "a, b, c"
std::string join(const std::vector<std::string_view> &names,
		 std::string_view between = ", ");

/// Up to @p most of @p names that may have been meant by @p wrong, best first;
/// none when it has one or two letters.
std::vector<std::string_view>
nearest_names(std::string_view wrong,
	      const std::vector<std::string_view> &names, unsigned most);

} // namespace uncore
