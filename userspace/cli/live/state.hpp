// SPDX-License-Identifier: GPL-2.0-or-later
// What the user of uncore live has chosen by keys.
#pragma once

#include <cstddef>
#include <string>

#include "attribution/top_table.hpp"

namespace cli {

enum class pane { numbers, tasks };

/// Rows that stand for several boxes, those of each box, or what there is room
/// for.
enum class detail { by_room, small, large };

struct live_state {
	pane focus = pane::tasks;
	/// The first row of each pane, and the first socket; beyond the end:
	/// the last.
	size_t first_number = 0, first_task = 0, first_socket = 0;
	/// Of a pane's rows those with this text, in any case.
	std::string number_filter, task_filter;
	bool typing = false; ///< the focus' filter
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

/// What a key asks for.
enum class reaction { none, redraw, quit };

/// @param key of screen::key().  @param page rows that PgUp and PgDn move by.
reaction react(live_state &state, int key, size_t page);

} // namespace cli
