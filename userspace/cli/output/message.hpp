// SPDX-License-Identifier: GPL-2.0-or-later
// Messages on standard error.
#pragma once

#include <string_view>

#include <uncore/error.hpp>

#include "process/exit_status.hpp"

namespace cli {

/// Print "uncore: MESSAGE" on standard error: one line, which is wrapped at a
/// terminal's width.
/// @return the exit status of the error.
int fail(const uncore::error &failure);
int fail(std::string_view message);
/// Print an error of the command line.  @return the exit status.
int fail_usage(std::string_view message);

/// Print "uncore: MESSAGE" on standard error; other output remains valid.
void note(std::string_view message);

} // namespace cli
