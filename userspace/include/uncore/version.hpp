// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Which libuncore a program runs with.
#pragma once

#include <string_view>

#include <uncore/export.hpp>

namespace uncore {

/// "0.1.0"; of the library that is loaded, not of the headers.
UNCORE_EXPORT std::string_view version();

} // namespace uncore
