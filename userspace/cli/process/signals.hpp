// SPDX-License-Identifier: GPL-2.0-or-later
// Signals that are waited for, one by one, instead of interrupting.
#pragma once

#include <chrono>
#include <csignal>
#include <initializer_list>
#include <optional>

#include "process/unique_fd.hpp"

namespace cli {

/// A signal that was sent to us.
struct caught_signal {
	int number = 0; ///< 0: none
	bool by_terminal = false;
};

/// Takes some signals as long as it lives, except those that the caller has
/// ignored.  SIGPIPE is ignored, as writing then fails.
class signals {
public:
	explicit signals(std::initializer_list<int> numbers);
	signals(const signals &) = delete;
	signals &operator=(const signals &) = delete;
	~signals();

	/// Waits for a signal, for @p other to be readable (-1: nothing), or
	/// for @p deadline.
	caught_signal
	wait(std::optional<std::chrono::steady_clock::time_point> deadline,
	     int other = -1) const;

private:
	sigset_t set_, old_;
	sighandler_t pipe_;
	unique_fd fd_;
};

/// In a child: block the signals that this program's caller has blocked, and
/// treat SIGPIPE as the caller does.
void restore_signals();

/// End this process by a signal's default action, so that a shell learns of the
/// signal.  @return the exit status, in case that the action is not to end.
int end_by(int number);

/// Stop this process as that signal does by default; return when it is continued.
void stop_by(int number);

} // namespace cli
