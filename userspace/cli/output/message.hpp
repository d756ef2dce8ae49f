// SPDX-License-Identifier: GPL-2.0-or-later
// Messages on standard error.
#pragma once

#include <string_view>

#include <uncore/error.hpp>

#include "process/exit_status.hpp"

namespace cli {

/// Print "uncore: MESSAGE" on standard error: one line, which is wrapped at a
/// terminal's width.
/// @return the exit status for it.
int fail(const uncore::error &failure);
int fail(std::string_view message);
/// For what is wrong with the command line.
int fail_usage(std::string_view message);

/// Prints "uncore: MESSAGE" on standard error; what is printed beside it holds.
void note(std::string_view message);

} // namespace cli
