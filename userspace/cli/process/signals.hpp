// SPDX-License-Identifier: GPL-2.0-or-later
// Signals for which the program waits, instead of being interrupted.
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
	bool by_terminal = false;
};

/// Blocks signals, for wait(), while the object exists.  Signals that the
/// caller ignores stay ignored.  SIGPIPE is ignored: a write then fails
/// instead.
class signals {
public:
	explicit signals(std::initializer_list<int> numbers);
	signals(const signals &) = delete;
	signals &operator=(const signals &) = delete;
	~signals();

	/// Wait for a signal, for data on @p extra_fd (-1: no descriptor), or
	/// for @p deadline.
	caught_signal
	wait(std::optional<std::chrono::steady_clock::time_point> deadline,
	     int extra_fd = -1) const;

private:
	sigset_t set_, old_;
	sighandler_t pipe_;
	unique_fd fd_;
};

/// In a child: block the signals that this program's caller has blocked, and
/// treat SIGPIPE as the caller does.
void restore_signals();

/// End this process by a signal's default action, so that a shell learns of the
/// signal.  @return the exit status, if the default action does not end a
/// process.
int end_by(int number);

/// Stop this process by a signal's default action; return after SIGCONT.
void stop_by(int number);

} // namespace cli
