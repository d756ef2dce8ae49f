// SPDX-License-Identifier: GPL-2.0-or-later
// Command lines with options of another program among the command's own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arguments/command_line.hpp"

namespace cli {

/// Options of another program whose value may be the next word.
struct valued_options {
	std::string_view letters;	     ///< "co" for -c and -o
	std::string_view optional_letters;   ///< a value only in the same word
	std::vector<std::string_view> words; ///< "count" for --count
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
