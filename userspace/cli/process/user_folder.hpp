// SPDX-License-Identifier: GPL-2.0-or-later
// Folders of the user, of the XDG Base Directory Specification.
#pragma once

#include <string>

namespace cli {

/// Return the folder "uncore" of the folder that an environment variable names, such as
/// XDG_CONFIG_HOME, or else of a folder below the home, such as ".config"; "" without a
/// home.
std::string user_folder(const char *variable, const char *below_home);

} // namespace cli
