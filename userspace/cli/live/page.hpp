// SPDX-License-Identifier: GPL-2.0-or-later
// uncore live's page: numbers, tasks and state as lines of text of a given
// size, with emphasis.  It knows no terminal.
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

/// What is shown, as it was at one time.
struct live_content {
	live_numbers numbers;
	limit_uses limits;
	std::map<int, judgement> verdicts; ///< by socket
	std::optional<account> tasks;
	top_settings columns;
	std::string no_tasks; ///< why there are none
	/// What went wrong, a line.
	std::string message;
	std::chrono::milliseconds interval{};
};

struct page_size {
	size_t columns = 80;
	/// 0: as many as there is to show, and no keys.
	size_t lines = 24;
	/// Without: ASCII only.
	bool utf8 = true;
};

/// @param state where it is scrolled beyond the end, it is put right.
std::vector<styled_line> make_page(const live_content &content,
				   live_state &state, cgroup_names &cgroups,
				   const page_size &size);

/// A line of the last values, from 0 to @p most.
std::string sparkline(const std::deque<double> &past, double most,
		      size_t columns, bool utf8);

} // namespace cli
