// SPDX-License-Identifier: GPL-2.0-or-later
// Notes on events that can be opened, and are likely not what the user wants.
#pragma once

#include <span>

#include <uncore/event.hpp>

namespace cli {

/// Print a line for each term with a numeric event code that the box's manual does not
/// list.
void note_unlisted(std::span<const uncore::event_group> groups,
		   const uncore::topology &machine);

/// Print a line for each term with a sample period, which has no effect on counting.
void note_periods(std::span<const uncore::event_group> groups);

} // namespace cli
