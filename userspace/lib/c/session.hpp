// SPDX-License-Identifier: LGPL-2.1-or-later
// The session of uncore.h: its counters, and the lists that callers request.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "handle.hpp"

struct uncore_session : uncore::c::handle {
	explicit uncore_session(const char *sysfs) : handle(sysfs)
	{
		if (machine)
			counters.emplace(*machine);
	}

	std::optional<uncore::counter_set> counters;
	std::vector<int> packages; ///< to count on; none for all
	/// Lines for uncore_session_news() to return, and the line that
	/// uncore_session_news() returned last.
	std::deque<std::string> news;
	std::string line;
	std::vector<uncore_value> values;
	std::vector<uncore_event> events;
	std::vector<uncore_metric> metrics;
	/// Strings of values, events and metrics; a deque never moves its
	/// elements.
	std::deque<std::string> value_texts, event_texts, metric_texts;
};
