// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a program, from the command line to the exit status.
#pragma once

#include <string>
#include <vector>

#include "arguments/subcommand.hpp"

namespace cli {

/// Open /dev/null in place of standard streams that are closed.  Otherwise a file that is
/// opened later would get the number 0, 1 or 2, and printed text would go into the file.
/// Reading from or writing to such a stream still fails.
void reserve_standard_streams();

/// Parse the words and run the requested action.
/// @return the exit status.
int run(command_line &app, context &shared, std::vector<std::string> words);

} // namespace cli
