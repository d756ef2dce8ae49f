// SPDX-License-Identifier: GPL-2.0-or-later
// Writes events in the syntax of the perf program, for uncore record.
#pragma once

#include <string>

#include <uncore/error.hpp>
#include <uncore/event.hpp>

namespace cli {

/// Write an uncore event in perf's syntax, PMU/EVENT,FIELD=NUMBER,.../.  The text of
/// other events is in perf's syntax already.
/// @param several whether the user's term stands for events on several PMUs.  Then the
/// PMU's name is appended to name=, so that their names differ.
/// Errors: errc::invalid, a name= that perf cannot read.
uncore::result<std::string> perf_event_string(const uncore::event &event,
					      bool several);

} // namespace cli
