// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>

#include "commands/serve.hpp"

namespace cli {

/// Serve or write the machine's counters until a signal ends the program.
/// @return the exit status.
int serve(const std::filesystem::path &sysfs, const serve_options &options);

} // namespace cli
