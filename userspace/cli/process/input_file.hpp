// SPDX-License-Identifier: GPL-2.0-or-later
// Files that the user wrote or names, read as a whole.
#pragma once

#include <cstddef>
#include <string>

#include <uncore/error.hpp>

namespace cli {

/// Read a file of at most @p most bytes.  A pipe or a device is refused, so
/// that reading ends. Errors: errc::system and errc::invalid; the message names
/// the cause alone.
uncore::result<std::string> read_file(const std::string &path, size_t most);

} // namespace cli
