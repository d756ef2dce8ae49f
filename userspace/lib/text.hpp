// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Text functions for parsers: numbers, splitting, similar names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uncore {

bool is_digit(char c);
/// Check for a letter, a digit or _.
bool is_word(char c);
bool is_space(char c);
/// Check for a control character, which messages must not contain.
bool is_control(char c);

std::string_view trim(std::string_view text);
/// Split @p text at the first @p separator; the second part is empty without a
/// separator.
std::pair<std::string_view, std::string_view> cut(std::string_view text,
						  char separator);
std::vector<std::string_view> split(std::string_view text, char separator);

/// Parse the whole text as a number: decimal, or hexadecimal after 0x.
std::optional<uint64_t> parse_number(std::string_view text);
/// Parse the whole text as a hexadecimal number without prefix.
std::optional<uint64_t> parse_hex(std::string_view text);
/// Parse a finite number such as "6.103515625e-5".
std::optional<double> parse_decimal(std::string_view text);

/// Compare names without regard to case; the result is as of strcmp().
int compare_names(std::string_view a, std::string_view b);
bool same_name(std::string_view a, std::string_view b);

/// Check whether @p name matches @p pattern with * and ?.
bool match_pattern(std::string_view pattern, std::string_view name);

/// Quote @p text for a message: shortened, without control characters.
std::string quote(std::string_view text);
/// Make one line of limited length of a message that may contain file text.
std::string one_line(std::string_view message);
/// Join names: "a, b, c".
std::string join(const std::vector<std::string_view> &names,
		 std::string_view between = ", ");

/// List up to @p most of @p names similar to @p wrong, best first; no names if
/// @p wrong has one or two letters.
std::vector<std::string_view>
nearest_names(std::string_view wrong,
	      const std::vector<std::string_view> &names, unsigned most);

} // namespace uncore
