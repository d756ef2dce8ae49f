// SPDX-License-Identifier: GPL-2.0-or-later
// The life of a program, from its command line to its exit status.
#pragma once

#include <string>
#include <vector>

#include "arguments/subcommand.hpp"

namespace cli {

/// Keep numbers 0 to 2 for the standard streams: a file that is opened while
/// one of them is closed would get its number, and the text that is printed.
/// Reading and writing them still fails.
void reserve_standard_streams();

/// Parse the words and take the action that they ask for.
/// @return the exit status.
int run(command_line &app, context &shared, std::vector<std::string> words);

} // namespace cli
