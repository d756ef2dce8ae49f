// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/child.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "process/exit_status.hpp"
#include "process/signals.hpp"

namespace cli {

/// What it was before raise_file_limit(); children get it back.
static std::optional<rlimit> file_limit;

void raise_file_limit()
{
	rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur == limit.rlim_max)
		return;
	if (!file_limit)
		file_limit = limit;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void restore_file_limit()
{
	if (file_limit)
		setrlimit(RLIMIT_NOFILE, &*file_limit);
}

child::~child()
{
	stop();
}

/// In the new process: waits to be released, and becomes the command.
void child::become(const std::vector<std::string> &command, int go, int fate)
{
	std::vector<char *> arguments;
	char byte;

	for (const std::string &argument : command)
		arguments.push_back(const_cast<char *>(argument.c_str()));
	arguments.push_back(nullptr);
	restore_signals();
	restore_file_limit();
	// The parent ended before it released this process.
	if (read(go, &byte, 1) != 1)
		_exit(1);
	execvp(arguments[0], arguments.data());
	int number = errno;

	(void)!write(fate, &number, sizeof(number));
	_exit(127);
}

uncore::result<void> child::start(const std::vector<std::string> &command)
{
	int go[2], fate[2];

	if (pipe2(go, O_CLOEXEC) || pipe2(fate, O_CLOEXEC))
		return uncore::error{uncore::errc::system,
				     fmt::format("pipe: {}", strerror(errno))};
	process_ = fork();
	if (process_ == 0) {
		close(go[1]);
		become(command, go[0], fate[1]);
	}
	close(go[0]);
	close(fate[1]);
	go_ = go[1];
	fate_ = fate[0];
	if (process_ < 0)
		return uncore::error{uncore::errc::system,
				     fmt::format("fork: {}", strerror(errno))};
	name_ = command.front();
	return {};
}

uncore::result<void> child::release()
{
	int number = 0;
	ssize_t got;

	(void)!write(go_, "", 1);
	close(go_);
	go_ = -1;
	// Closed by exec, or told why there was none.
	do
		got = read(fate_, &number, sizeof(number));
	while (got < 0 && errno == EINTR);
	if (got != sizeof(number))
		return {};
	status_ = number == ENOENT ? no_command : not_executable;
	return uncore::error{uncore::errc::not_found,
			     fmt::format("{}: {}", name_, strerror(number))};
}

bool child::ended()
{
	int status;

	if (process_ <= 0 || waitpid(process_, &status, WNOHANG) != process_)
		return false;
	status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				      : WEXITSTATUS(status);
	process_ = -1;
	return true;
}

void child::send(int signal)
{
	if (process_ > 0)
		kill(process_, signal);
}

bool child::shares_terminal() const
{
	return process_ > 0 && getpgid(process_) == getpgrp();
}

void child::close_pipes()
{
	// One that was never released ends by this.
	if (go_ >= 0)
		close(go_);
	if (fate_ >= 0)
		close(fate_);
	go_ = fate_ = -1;
}

int interruption()
{
	struct sigaction action;

	if (!sigaction(SIGINT, nullptr, &action) &&
	    action.sa_handler == SIG_IGN)
		return SIGTERM;
	return SIGINT;
}

void child::stop()
{
	const bool released = go_ < 0;

	close_pipes();
	if (process_ <= 0)
		return;
	if (released)
		send(interruption());
	while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR)
		;
	process_ = -1;
}

} // namespace cli
