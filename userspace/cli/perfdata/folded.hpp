// SPDX-License-Identifier: GPL-2.0-or-later
// Folded stacks: a line for each stack, "TASK;OUTER;INNER COUNT".
#pragma once

#include <string>
#include <string_view>

namespace cli {

/// Append a frame to a stack.  Names come from other users' tasks and programs:
/// a name cannot look like several frames, end the line, or control a terminal.
void add_frame(std::string &stack, std::string_view name);

} // namespace cli
