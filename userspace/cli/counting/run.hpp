// SPDX-License-Identifier: GPL-2.0-or-later
// How long the measuring subcommands count: for a time, while a command runs,
// or until Ctrl-C; and what happens at each interval.
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

/// What the command line says of time.
struct run_options {
	unsigned interval_ms = 0; ///< 0: no intervals
	unsigned intervals = 0;	  ///< end after that many, 0: do not
	double duration = 0;	  ///< seconds, 0: no limit
	/// For which the command runs before it is counted.
	unsigned delay_ms = 0;
	std::vector<std::string> command;
};

/// Adds -d and the command.
void add_time_options(parser &command, run_options &options);
/// Adds -I and --interval-count as well.
void add_run_options(parser &command, run_options &options);

/// What a run calls; what returns false ends it.
struct run_hooks {
	/// Start counting.
	std::function<uncore::result<void>()> enable;
	/// Read the counters; @p last is true for the last time.
	std::function<bool(bool last)> tick;
	/// Longest time between reads without -I, 0: none.
	unsigned read_ms = 0;
	/// Called when counting begins, and after the time that it returns, as
	/// long as that is not 0.
	std::function<std::chrono::nanoseconds()> sample;

	/// Called every poll_ms milliseconds, 0: never; and as soon as a
	/// descriptor is readable.
	std::function<bool()> poll;
	unsigned poll_ms = 0;
	int poll_fd = -1;
	/// Tell a person how far it is.
	bool progress = false;
};

/// How a run ended.
class run_end {
public:
	/// Counted to the end.
	run_end(int status) : status_(status) {}
	/// Nothing was counted.
	run_end(uncore::error why, int status = failure)
		: status_(status), why_(std::move(why))
	{
	}

	explicit operator bool() const { return !why_; }
	/// The exit status for it.
	int status() const { return status_; }
	const uncore::error &error() const { return *why_; }

private:
	int status_;
	std::optional<uncore::error> why_;
};

/// Prints the error of a run.  @return its exit status.
int fail(const run_end &ended);

/// Counts as the options say.  SIGINT, SIGTERM and SIGHUP end it like the end
/// of time, unless the caller has them ignored; the command then gets the same
/// signal, SIGINT at the end of time, and is waited for however long it takes,
/// with the last tick done.
/// @return the command's exit status when it ended before the run, by_signal and a
/// signal's number, or 0.  Errors: of child and hooks.
run_end run(const run_options &options, const run_hooks &hooks);

} // namespace cli
