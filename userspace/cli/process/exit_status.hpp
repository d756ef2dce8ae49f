// SPDX-License-Identifier: GPL-2.0-or-later
// Exit statuses of the command.
#pragma once

namespace cli {

/// Exit statuses; the man page has a table of them.
enum : int {
	success = 0,
	failure = 1,
	usage = 2,
	not_executable = 126, ///< the command to measure cannot be executed
	no_command = 127,     ///< the command to measure does not exist
	/// Added to a signal's number: run() then ends the process by the signal.
	by_signal = 256,
};

} // namespace cli
