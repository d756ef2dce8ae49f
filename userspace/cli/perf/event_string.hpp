// SPDX-License-Identifier: GPL-2.0-or-later
// Events in perf's own words.
#pragma once

#include <string>

#include <uncore/error.hpp>
#include <uncore/event.hpp>

namespace cli {

/// Write an uncore event in perf's form, PMU/EVENT,FIELD=NUMBER,.../, for the
/// event's PMU.  Other events are in perf's form already.
/// @param several the event's term has events on several PMUs: append the PMU's
/// name to name=.
/// Errors: errc::invalid, a name= that perf cannot read.
uncore::result<std::string> perf_event_string(const uncore::event &event,
					      bool several);

} // namespace cli
