// SPDX-License-Identifier: GPL-2.0-or-later
// Text that somebody else has chosen: names of tasks, files and events.
#pragma once

#include <string>
#include <string_view>

namespace cli {

/// @p text as it may be printed on a terminal, in JSON and in XML: UTF-8, one
/// line, without what a terminal takes for a command.  What is none of that
/// (control characters, bytes that are no UTF-8, characters that change the
/// direction of what follows) becomes a question mark.
std::string printable(std::string_view text);

} // namespace cli
