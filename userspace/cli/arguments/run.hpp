// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a program, from the command line to the exit status.
#pragma once

#include <string>
#include <vector>

#include "arguments/subcommand.hpp"

namespace cli {

/// Keep file descriptors 0 to 2 for the standard streams: while a standard
/// stream is closed, an opened file would get the stream's number, and the
/// printed text. Reading and writing a closed stream still fails.
void reserve_standard_streams();

/// Parse the words and run the requested action.
/// @return the exit status.
int run(command_line &app, context &shared, std::vector<std::string> words);

} // namespace cli
