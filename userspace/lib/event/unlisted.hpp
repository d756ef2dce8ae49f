// SPDX-License-Identifier: LGPL-2.1-or-later
// Raw codes without an event.  Internal to the library and the command; not a
// part of the public interface.
#pragma once

#include <string>

#include <uncore/event.hpp>

namespace uncore {

/// Warn of a raw event code that the catalogue does not have for its box:
/// drivers accept the code, and the event counts 0.  Empty for any other event.
std::string unlisted_code(const event &counted, const topology &machine);

} // namespace uncore
