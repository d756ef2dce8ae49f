// SPDX-License-Identifier: GPL-2.0-or-later
// Other programs of this project, which the command becomes.
#pragma once

#include <string>
#include <vector>

#include <uncore/error.hpp>

namespace cli {

/// Execute a program that is beside this one, as in a build tree, or in the
/// folder of libexec that belongs to this one's.
/// @return why it is not executed.  errc::system.
uncore::error execute_beside(const std::string &name,
			     const std::vector<std::string> &arguments);

} // namespace cli
