// SPDX-License-Identifier: GPL-2.0-or-later
// The user's command, which is measured.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <uncore/error.hpp>

namespace cli {

/// Raises RLIMIT_NOFILE as far as this user may, as an event is a descriptor on
/// each CPU; children get what there was before.
void raise_file_limit();
/// Take back raise_file_limit(), for a program that replaces this one.
void restore_file_limit();

/// The user's command, started but held before its first instruction, so that
/// counters can be enabled in between.  It is interrupted at its owner's end,
/// as by Ctrl-C, and waited for.
class child {
public:
	child() = default;
	child(const child &) = delete;
	child &operator=(const child &) = delete;
	~child();

	/// Forks.  Errors: errc::system.
	uncore::result<void> start(const std::vector<std::string> &command);
	/// Lets it run.  Errors: errc::not_found, when it cannot be executed;
	/// status() then is a shell's, 126 or 127.
	uncore::result<void> release();
	/// @return whether it has ended; its status then is in status().
	bool ended();
	void send(int signal);
	/// Is it in this program's process group, so that it gets what the
	/// terminal sends?
	bool shares_terminal() const;
	/// Interrupts it once, and waits however long it takes.
	void stop();
	bool exists() const { return process_ > 0; }
	const std::string &name() const { return name_; }
	/// As a shell has it: 128 and the signal's number when a signal ended
	/// it.
	int status() const { return status_; }

private:
	void become(const std::vector<std::string> &command, int go, int fate);
	void close_pipes();

	pid_t process_ = -1;
	std::string name_;
	int go_ = -1, fate_ = -1;
	int status_ = 0;
};

/// SIGINT, or SIGTERM where the shell has it ignored: in the background of a
/// script.
int interruption();

} // namespace cli
