// SPDX-License-Identifier: GPL-2.0-or-later
// The run of a measuring subcommand such as stat or top: count for a time, while a
// command runs, or until Ctrl-C.  The subcommand gives functions (hooks) that start
// counting and read the counters; run() calls them at the right times.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <uncore/error.hpp>

#include "arguments/command_line.hpp"
#include "output/message.hpp"

namespace cli {

/// Options of time.
struct run_options {
	unsigned interval_ms = 0; ///< time from one output to the next; 0: none
	unsigned intervals = 0;	  ///< end after this number; 0: no limit
	double duration = 0;	  ///< seconds, 0: no limit
	/// Time that the command runs before counting begins.
	unsigned delay_ms = 0;
	/// The measured command and its arguments; empty: none.
	std::vector<std::string> command;
};

/// Add -d and the command.
void add_time_options(parser &command, run_options &options);
/// Add -I and --interval-count as well.
void add_run_options(parser &command, run_options &options);

/// Functions that a run calls; a function that returns false ends the run.
struct run_hooks {
	/// Prepare to count, before the command's process exists.
	std::function<uncore::result<void>()> prepare;
	/// Start counting.
	std::function<uncore::result<void>()> enable;
	/// End an interval: read the counters, and print.  @p last: at the end
	/// of the run.
	std::function<bool(bool last)> tick;
	/// Time between ticks without -I; 0: only the last tick.
	unsigned read_ms = 0;
	/// Read the counters within an interval.  Called when counting begins,
	/// and again after the returned time; not again if the time is 0.
	std::function<std::chrono::nanoseconds()> sample;

	/// Called at each wakeup of the run: at least every poll_ms milliseconds
	/// (0: no limit), and when poll_fd (-1: none) is readable.
	std::function<bool()> poll;
	unsigned poll_ms = 0;
	int poll_fd = -1;
	/// Print the progress on a terminal.
	bool progress = false;
};

/// End of a run.
class run_end {
public:
	/// Counted to the end.
	run_end(int status) : status_(status) {}
	/// Nothing was counted.
	run_end(uncore::error reason, int status = failure)
		: status_(status), error_(std::move(reason))
	{
	}

	explicit operator bool() const { return !error_; }
	/// Exit status of the run.
	int status() const { return status_; }
	const uncore::error &error() const { return *error_; }

private:
	int status_;
	std::optional<uncore::error> error_;
};

/// Print the error of a run.  @return the run's exit status.
int fail(const run_end &outcome);

/// Count as the options say.  SIGINT, SIGTERM and SIGHUP end the run as the end
/// of the time does, unless the caller ignores these signals.  After the last
/// tick the command gets the same signal, SIGINT at the end of the time, and
/// the run waits for the command without a limit.
/// @return the command's exit status when it ended before the run, by_signal
/// and a signal's number, or 0.  Errors: of child and hooks.
run_end run(const run_options &options, const run_hooks &hooks);

} // namespace cli
