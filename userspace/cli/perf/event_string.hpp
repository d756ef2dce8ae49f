// SPDX-License-Identifier: GPL-2.0-or-later
// Events in perf's own words.
#pragma once

#include <string>

#include <uncore/error.hpp>
#include <uncore/event.hpp>

namespace cli {

/// Write an uncore event as perf reads it, PMU/EVENT,FIELD=NUMBER,.../, on its
/// one PMU.  Other events are perf's, and stay as they are.
/// @param several its term has events on other PMUs as well, from which a
/// name= must tell it.
/// Errors: errc::invalid, a name= that perf cannot read.
uncore::result<std::string> perf_event_string(const uncore::event &event,
					      bool several);

} // namespace cli
