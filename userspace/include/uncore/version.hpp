// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The version of libuncore.
#pragma once

#include <string_view>

#include <uncore/export.hpp>

namespace uncore {

/// The version of the loaded library, "0.1.0". The headers that a program was
/// built with may have another version.
UNCORE_EXPORT std::string_view version();

} // namespace uncore
