// SPDX-License-Identifier: GPL-2.0-or-later
// How long the measuring subcommands count: for a time, while a command runs,
// or until Ctrl-C; and what happens at each interval.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <CLI/CLI.hpp>

#include <uncore/error.hpp>

namespace cli {

/// What the command line says of time.
struct run_options {
	unsigned interval_ms = 0; ///< 0: no intervals
	unsigned intervals = 0;	  ///< end after so many, 0: do not
	double duration = 0;	  ///< seconds, 0: no limit
	std::vector<std::string> command;
};

/// Adds -d and the command.
void add_time_options(CLI::App &command, run_options &options);
/// Adds -I and --interval-count as well.
void add_run_options(CLI::App &command, run_options &options);

/// The user's command, started but held before its first instruction, so that
/// counters can be enabled in between.  It is ended with its owner.
class child {
public:
	child() = default;
	child(const child &) = delete;
	child &operator=(const child &) = delete;
	~child();

	/// Forks.  Errors: errc::system.
	uncore::result<void> start(const std::vector<std::string> &command);
	/// Lets it run.  Errors: errc::not_found, when there is no such
	/// command.
	uncore::result<void> release();
	/// @return whether it has ended; its status then is in status().
	bool ended();
	/// Asks it to end, insists after a while, and waits.
	void stop();
	bool exists() const { return process_ > 0; }
	/// As a shell has it: 128 and the signal's number when a signal ended
	/// it.
	int status() const { return status_; }

private:
	void become(const std::vector<std::string> &command, int go, int fate);

	pid_t process_ = -1;
	std::string name_;
	int go_ = -1, fate_ = -1;
	int status_ = 0;
};

/// What a run calls; each returns false to end the run.
struct run_hooks {
	/// Start counting.
	std::function<uncore::result<void>()> enable;
	/// Read the counters; @p last is true for the last time.
	std::function<bool(bool last)> tick;
	/// Longest time between reads although there are no intervals, 0: none.
	unsigned read_ms = 0;
};

/// Counts as the options say.  SIGINT and SIGTERM end it like the end of time.
/// @return the command's exit status when it ended by itself, or 0.  Errors: of
/// child and hooks.
uncore::result<int> run(const run_options &options, const run_hooks &hooks);

} // namespace cli
