// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Version of the library that a program runs with.
#pragma once

#include <string_view>

#include <uncore/export.hpp>

namespace uncore {

/// Return the version of the loaded library, not of the headers: "0.1.0".
UNCORE_EXPORT std::string_view version();

} // namespace uncore
