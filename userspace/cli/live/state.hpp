// SPDX-License-Identifier: GPL-2.0-or-later
// Choices of uncore live's user by keys.
#pragma once

#include <cstddef>
#include <string>

#include "attribution/top_table.hpp"

namespace cli {

enum class pane { numbers, tasks };

/// Rows that stand for several boxes (small), rows of each box (large), or a
/// choice by the room on the page.
enum class detail { by_room, small, large };

struct live_state {
	pane focus = pane::tasks;
	/// The first row of each pane, and the first socket; beyond the end:
	/// the last.
	size_t first_number = 0, first_task = 0, first_socket = 0;
	/// Text that rows of a pane must have, in upper or lower case.
	std::string number_filter, task_filter;
	bool typing = false; ///< editing the filter of the focus
	bool paused = false, help = false;
	detail rows = detail::by_room;
	top_by by = top_by::task;
	std::string sort = "memory";
	bool reverse = false;

	std::string &filter()
	{
		return focus == pane::numbers ? number_filter : task_filter;
	}
	size_t &first()
	{
		return focus == pane::numbers ? first_number : first_task;
	}
};

/// Reaction to a key.
enum class reaction { none, redraw, quit };

/// Handle a key.
/// @param key of screen::key().  @param page rows that PgUp and PgDn move by.
reaction react(live_state &state, int key, size_t page);

} // namespace cli
