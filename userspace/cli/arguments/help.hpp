// SPDX-License-Identifier: GPL-2.0-or-later
// Help for new users: the overview that uncore prints without arguments, and the "--"
// before a measured command, which users may leave out.
#pragma once

#include <string>
#include <vector>

#include "arguments/subcommand.hpp"

namespace cli {

/// Print the subcommands for this machine, in ten lines.
/// @return the exit status.
int overview(const context &shared);

/// Insert "--" before the user's command if the user has left "--" out: "uncore
/// stat -e EVENT ls -l".
std::vector<std::string> separate_command(const parser &app,
					  std::vector<std::string> arguments);

} // namespace cli
