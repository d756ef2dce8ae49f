// SPDX-License-Identifier: LGPL-2.1-or-later
// Raw codes that are not events.  Not a part of the public interface; the
// command uses it as well.
#pragma once

#include <string>

#include <uncore/event.hpp>

namespace uncore {

/// A note on a raw event code that the catalogue does not have for its box:
/// drivers accept it, and it counts 0.  Empty for any other event.
std::string unlisted_code(const event &wanted, const topology &machine);

} // namespace uncore
