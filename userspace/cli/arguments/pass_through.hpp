// SPDX-License-Identifier: GPL-2.0-or-later
// Command lines on which options of another program are mixed with the subcommand's
// own: uncore record also takes the options of perf record.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arguments/command_line.hpp"

namespace cli {

/// Options of another program that take a value.
struct valued_options {
	/// Letters whose value is the rest of the word or the next word: "co"
	/// for -c and -o.
	std::string_view letters;
	/// Letters whose value, if any, is the rest of the word.
	std::string_view optional_letters;
	/// Long names whose value is the next word: "count" for --count.
	std::vector<std::string_view> words;
};

struct separated_words {
	/// The command's own words, and the user's command behind "--".
	std::vector<std::string> own;
	/// The other program's words, in the typed order.
	std::vector<std::string> passed;
};

/// Separate the words behind a subcommand's name.  Options that the subcommand
/// does not have are the other program's.  The user's command begins behind
/// "--", or with the first word that is neither an option nor a value.
separated_words separate_options(const parser &command,
				 const std::vector<std::string> &words,
				 const valued_options &foreign_options);

} // namespace cli
