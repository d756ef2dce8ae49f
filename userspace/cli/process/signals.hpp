// SPDX-License-Identifier: GPL-2.0-or-later
// Waits for signals.  They are blocked and read from a descriptor (signalfd), so that they
// never interrupt the program elsewhere.
#pragma once

#include <chrono>
#include <csignal>
#include <initializer_list>
#include <optional>

#include "process/unique_fd.hpp"

namespace cli {

/// A signal that this process received.
struct caught_signal {
	int number = 0; ///< 0: no signal
	bool by_terminal = false; ///< sent by the kernel, for Ctrl-C
};

/// Blocks signals, for wait(), while the object exists.  Signals that this program was
/// started with as ignored stay ignored.  SIGPIPE is ignored, so that a write to a closed
/// pipe fails instead of ending the program.
class signals {
public:
	explicit signals(std::initializer_list<int> numbers);
	signals(const signals &) = delete;
	signals &operator=(const signals &) = delete;
	~signals();

	/// Wait for a signal, for data on @p extra_fd (-1: no descriptor), or
	/// until @p deadline.
	caught_signal
	wait(std::optional<std::chrono::steady_clock::time_point> deadline,
	     int extra_fd = -1) const;

private:
	sigset_t set_, old_;
	sighandler_t pipe_;
	unique_fd fd_;
};

/// In a new process, before it executes another program: set the blocked signals and the
/// action of SIGPIPE with which this program was started.
void restore_signals();

/// End this process by a signal's default action, so that a shell sees that the signal
/// ended it.
/// @return the exit status, if the default action does not end the process.
int end_by(int number);

/// Stop this process by a signal's default action; return after SIGCONT.
void stop_by(int number);

} // namespace cli
