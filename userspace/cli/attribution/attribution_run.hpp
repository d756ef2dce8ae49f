// SPDX-License-Identifier: GPL-2.0-or-later
// The run of a subcommand that attributes counts to tasks: from the load of the programs
// to the last account.
#pragma once

#include <chrono>
#include <functional>

#include "attribution/attribution.hpp"
#include "counting/run.hpp"

namespace cli {

/// Functions that a run calls.
struct attribution_hooks {
	/// The programs are loaded.  The command's process does not exist yet.
	/// May be empty.
	std::function<uncore::result<void>(const attribution &)> opened;
	/// Counting has begun.  May be empty.
	std::function<void()> enabled;
	/// Take an account.
	std::function<void(account)> add;
	/// Print the accounts since the last call.  @p last: at the end of the
	/// run.  @return false when the output cannot be written.
	std::function<bool(bool last)> print;
	/// Called several times a second.  @return false to end the run.  May be
	/// empty.
	std::function<bool()> poll;
	/// Longest time between two accounts; 0: an account for each print().
	std::chrono::seconds account_time{0};
	/// Print the progress on a terminal.
	bool progress = false;
};

/// Count as the options say.  Errors: of run(), and of attribution.
run_end run_attribution(const run_options &times,
			attribution_options options,
			const uncore::topology &machine,
			const attribution_hooks &hooks);

} // namespace cli
