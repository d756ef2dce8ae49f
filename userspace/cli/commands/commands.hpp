// SPDX-License-Identifier: GPL-2.0-or-later
// Subcommands.  Each file of this folder defines the subcommand of its name,
// and CMake lists the files.
#pragma once

#include "arguments/subcommand.hpp"
#include "subcommands.hpp"

namespace cli {

/// Print completions of the last of @p words.
/// @param words of the command line after the program's name.
int complete(const parser &app, const std::vector<std::string> &words);

/// Take perf's options out of the words of uncore record.
/// @return the remaining words.
std::vector<std::string>
take_perf_options(const parser &app, const std::vector<std::string> &words,
		  context &shared);

} // namespace cli
