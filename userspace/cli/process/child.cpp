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

/// Limit of open files before raise_file_limit().
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

/// In the new process: wait for release(), then execute the command.
void child::become(const std::vector<std::string> &command, int release_fd,
		   int error_fd)
{
	std::vector<char *> arguments;
	char byte;

	for (const std::string &argument : command)
		arguments.push_back(const_cast<char *>(argument.c_str()));
	arguments.push_back(nullptr);
	restore_signals();
	restore_file_limit();
	// The read ends without a byte if the parent ended before release().
	if (read(release_fd, &byte, 1) != 1)
		_exit(1);
	execvp(arguments[0], arguments.data());
	int error_number = errno;

	(void)!write(error_fd, &error_number, sizeof(error_number));
	_exit(127);
}

uncore::result<void> child::start(const std::vector<std::string> &command)
{
	int release_pipe[2], error_pipe[2];

	if (pipe2(release_pipe, O_CLOEXEC) || pipe2(error_pipe, O_CLOEXEC))
		return uncore::error{uncore::errc::system,
				     fmt::format("pipe: {}", strerror(errno))};
	process_ = fork();
	if (process_ == 0) {
		close(release_pipe[1]);
		become(command, release_pipe[0], error_pipe[1]);
	}
	close(release_pipe[0]);
	close(error_pipe[1]);
	release_fd_ = release_pipe[1];
	error_fd_ = error_pipe[0];
	if (process_ < 0)
		return uncore::error{uncore::errc::system,
				     fmt::format("fork: {}", strerror(errno))};
	name_ = command.front();
	return {};
}

uncore::result<void> child::release()
{
	int error_number = 0;
	ssize_t size;

	(void)!write(release_fd_, "", 1);
	close(release_fd_);
	release_fd_ = -1;
	// A successful exec closes the pipe (O_CLOEXEC); after a failed exec the
	// pipe has the errno.
	do
		size = read(error_fd_, &error_number, sizeof(error_number));
	while (size < 0 && errno == EINTR);
	if (size != sizeof(error_number))
		return {};
	status_ = error_number == ENOENT ? no_command : not_executable;
	return uncore::error{
		uncore::errc::not_found,
		fmt::format("{}: {}", name_, strerror(error_number))};
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
	// A process that was never released ends when the pipe is closed.
	if (release_fd_ >= 0)
		close(release_fd_);
	if (error_fd_ >= 0)
		close(error_fd_);
	release_fd_ = error_fd_ = -1;
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
	const bool released = release_fd_ < 0;

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
