// SPDX-License-Identifier: GPL-2.0-or-later
// Starts and ends the user's command, which this program measures.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <uncore/error.hpp>

namespace cli {

/// Raise RLIMIT_NOFILE to the hard limit, as an event may need a descriptor on each CPU.
/// The user's command gets the previous limit.
void raise_file_limit();
/// Set the previous limit again, before another program is executed.
void restore_file_limit();

/// The user's command.  start() forks a process, which executes the command only after
/// release(), so that counters can be enabled before.  The destructor interrupts the
/// command, as Ctrl-C does, and waits for its end.
class child {
public:
	child() = default;
	child(const child &) = delete;
	child &operator=(const child &) = delete;
	~child();

	/// Fork the command's process.  Errors: errc::system.
	uncore::result<void> start(const std::vector<std::string> &command);
	/// Execute the command.  Errors: errc::not_found, if it cannot be
	/// executed; status() is then 126 or 127, as in a shell.
	uncore::result<void> release();
	/// Check whether the command has ended; status() then has its status.
	bool ended();
	void send(int signal);
	/// Is the command in this program's process group?  Then the terminal
	/// sends a signal of Ctrl-C to both.
	bool shares_terminal() const;
	/// Interrupt the command once, and wait for its end without a limit.
	void stop();
	bool exists() const { return process_ > 0; }
	const std::string &name() const { return name_; }
	/// Exit status as in a shell: 128 plus a signal's number if the signal
	/// ended the command.
	int status() const { return status_; }

private:
	void become(const std::vector<std::string> &command, int release_fd,
		    int error_fd);
	void close_pipes();

	pid_t process_ = -1;
	std::string name_;
	/// Pipes: a byte in the first lets the process execute the command; the
	/// process writes the errno of a failed exec to the second.
	int release_fd_ = -1, error_fd_ = -1;
	int status_ = 0;
};

/// Return the signal that ends the command.  SIGINT; or SIGTERM if this program ignores
/// SIGINT, which the command inherits, as a shell sets for background jobs of a script.
int interruption();

} // namespace cli
