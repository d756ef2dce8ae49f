// SPDX-License-Identifier: GPL-2.0-or-later
// The subcommands, each in the file of its name: CMake lists them by the files
// of this folder.
#pragma once

#include "arguments/subcommand.hpp"
#include "subcommands.hpp"

namespace cli {

/// Prints what the last of @p words, which follow the command's name, may
/// become.
int complete(const parser &app, const std::vector<std::string> &words);

/// Take perf's options out of the words of uncore record.
/// @return the words without them.
std::vector<std::string>
take_perf_options(const parser &app, const std::vector<std::string> &words,
		  context &shared);

} // namespace cli
