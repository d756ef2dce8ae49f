// SPDX-License-Identifier: GPL-2.0-or-later
// The user's command, which the program measures.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <uncore/error.hpp>

namespace cli {

/// Raise RLIMIT_NOFILE to the user's hard limit: an event needs a descriptor on
/// each CPU.  Children get the previous limit.
void raise_file_limit();
/// Undo raise_file_limit(), for a program that replaces this program.
void restore_file_limit();

/// The user's command.  The command waits before its first instruction until
/// release(), so that counters can be enabled.  The destructor interrupts the
/// command, as Ctrl-C does, and waits for its end.
class child {
public:
	child() = default;
	child(const child &) = delete;
	child &operator=(const child &) = delete;
	~child();

	/// Fork.  Errors: errc::system.
	uncore::result<void> start(const std::vector<std::string> &command);
	/// Let the command run.  Errors: errc::not_found, if the command cannot
	/// be executed; status() is then 126 or 127, as in a shell.
	uncore::result<void> release();
	/// Check whether the command has ended; status() then has its status.
	bool ended();
	void send(int signal);
	/// Is the command in this program's process group, so that the terminal
	/// sends signals to both?
	bool shares_terminal() const;
	/// Interrupt the command once, and wait for its end without a limit.
	void stop();
	bool exists() const { return process_ > 0; }
	const std::string &name() const { return name_; }
	/// Status as in a shell: 128 plus the signal's number after a signal.
	int status() const { return status_; }

private:
	void become(const std::vector<std::string> &command, int release_fd,
		    int error_fd);
	void close_pipes();

	pid_t process_ = -1;
	std::string name_;
	int release_fd_ = -1, error_fd_ = -1;
	int status_ = 0;
};

/// Get SIGINT, or SIGTERM where the shell ignores SIGINT: in the background of
/// a script.
int interruption();

} // namespace cli
