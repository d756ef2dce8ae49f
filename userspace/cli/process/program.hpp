// SPDX-License-Identifier: GPL-2.0-or-later
// Executes another program of this project in place of this program.
#pragma once

#include <string>
#include <vector>

#include <uncore/error.hpp>

namespace cli {

/// Execute a program in this program's folder, as in a build tree, or in the
/// libexec folder of the installation.
/// @return the reason of a failure: errc::system.
uncore::error execute_beside(const std::string &name,
			     const std::vector<std::string> &arguments);

} // namespace cli
