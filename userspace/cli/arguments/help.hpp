// SPDX-License-Identifier: GPL-2.0-or-later
// What people read before they know the command: help texts, and what uncore
// says without arguments.
#pragma once

#include <string>
#include <vector>

#include "arguments/subcommand.hpp"

namespace cli {

/// What can be done with this machine, in ten lines.
/// @return the exit status.
int overview(const context &shared);

/// The arguments with a "--" before the user's command, for those who leave it
/// out: "uncore stat -e EVENT ls -l".
std::vector<std::string> separate_command(const parser &app,
					  std::vector<std::string> arguments);

} // namespace cli
