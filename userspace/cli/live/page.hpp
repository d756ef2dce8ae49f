// SPDX-License-Identifier: GPL-2.0-or-later
// uncore live's page: numbers, tasks and the user's choices as lines of styled text for a
// terminal of a given size.  Independent of the terminal.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "exporter/limits.hpp"
#include "live/numbers.hpp"
#include "live/state.hpp"
#include "live/tasks.hpp"
#include "terminal/screen.hpp"

namespace cli {

/// Content of the page.
struct live_content {
	live_numbers numbers;
	limit_uses limits;
	std::map<int, judgement> verdicts; ///< by socket
	std::optional<account> tasks; ///< traffic of tasks since the last read
	top_settings columns;	      ///< columns of the tasks
	std::string no_tasks;	      ///< reason for missing tasks
	/// Error message, one line.
	std::string message;
	std::chrono::milliseconds interval{};
};

struct page_size {
	size_t columns = 80;
	/// 0: as many lines as the content needs, and no keys.
	size_t lines = 24;
	/// false: only ASCII.
	bool utf8 = true;
};

/// Make the page.
/// @param state its first rows are reduced if they are beyond the end.
std::vector<styled_line> make_page(const live_content &content,
				   live_state &state, cgroup_names &cgroups,
				   const page_size &size);

/// Draw the last values as a line of bars, one column each, on a scale from 0 to @p
/// maximum.
std::string sparkline(const std::deque<double> &past, double maximum,
		      size_t columns, bool utf8);

} // namespace cli
