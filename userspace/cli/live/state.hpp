// SPDX-License-Identifier: GPL-2.0-or-later
// The choices that the user of uncore live makes by keys.
#pragma once

#include <cstddef>
#include <string>

#include "attribution/top_table.hpp"

namespace cli {

/// The two parts of the page that are scrolled and filtered.
enum class pane { numbers, tasks };

/// A row for all boxes of a type (small), a row for each box (large), or a choice by the
/// room on the page.
enum class detail { by_room, small, large };

struct live_state {
	pane focus = pane::tasks; ///< the pane that keys scroll and filter
	/// Index of the first shown row of each pane, and of the first shown
	/// socket.  make_page() reduces a number beyond the end.
	size_t first_number = 0, first_task = 0, first_socket = 0;
	/// Text that rows of a pane must contain to be shown; case is ignored.
	std::string number_filter, task_filter;
	bool typing = false; ///< keys edit the filter
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
/// @param key from screen::key().
/// @param page rows by which PgUp and PgDn scroll.
reaction react(live_state &state, int key, size_t page);

} // namespace cli
