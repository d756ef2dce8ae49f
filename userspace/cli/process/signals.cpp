// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/signals.hpp"

#include <algorithm>

#include <poll.h>
#include <sys/signalfd.h>

namespace cli {

using std::chrono::nanoseconds;
using clock = std::chrono::steady_clock;

namespace {

/// Signal state of this process before the first object of signals.
struct inherited_signals {
	sigset_t blocked;
	sighandler_t pipe;
};

std::optional<inherited_signals> inherited;

} // namespace

/// Was this program started with the signal ignored, as by nohup or for a shell's
/// background job?  Then it stays ignored.  Exception: an ignored SIGCHLD gets the
/// default action, as with SIGCHLD ignored a process cannot wait for its children.
static bool is_ignored(int number)
{
	struct sigaction action;

	if (sigaction(number, nullptr, &action) || action.sa_handler != SIG_IGN)
		return false;
	if (number != SIGCHLD)
		return true;
	signal(number, SIG_DFL);
	return false;
}

signals::signals(std::initializer_list<int> numbers)
{
	sigemptyset(&set_);
	for (const int number : numbers)
		if (!is_ignored(number))
			sigaddset(&set_, number);
	sigprocmask(SIG_BLOCK, &set_, &old_);
	pipe_ = signal(SIGPIPE, SIG_IGN);
	if (!inherited)
		inherited = {old_, pipe_};
	fd_ = unique_fd(signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
}

signals::~signals()
{
	signal(SIGPIPE, pipe_);
	sigprocmask(SIG_SETMASK, &old_, nullptr);
}

caught_signal signals::wait(std::optional<clock::time_point> deadline,
			    int extra_fd) const
{
	pollfd fds[] = {{fd_.get(), POLLIN, 0}, {extra_fd, POLLIN, 0}};
	timespec time{};
	signalfd_siginfo info;

	if (deadline) {
		const auto remaining = std::max<nanoseconds>(
			*deadline - clock::now(), nanoseconds(0));

		time = {remaining.count() / 1000000000,
			remaining.count() % 1000000000};
	}
	ppoll(fds, 2, deadline ? &time : nullptr, nullptr);
	if (read(fd_.get(), &info, sizeof(info)) != sizeof(info))
		return {};
	return {int(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

void restore_signals()
{
	if (!inherited)
		return;
	signal(SIGPIPE, inherited->pipe);
	sigprocmask(SIG_SETMASK, &inherited->blocked, nullptr);
}

int end_by(int number)
{
	sigset_t set;

	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, nullptr);
	raise(number);
	return 128 + number;
}

void stop_by(int number)
{
	struct sigaction default_action {};
	struct sigaction old_action;
	sigset_t set, old_mask;

	default_action.sa_handler = SIG_DFL;
	sigemptyset(&set);
	sigaddset(&set, number);
	sigaction(number, &default_action, &old_action);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &set, &old_mask); // the process stops
	sigprocmask(SIG_SETMASK, &old_mask, nullptr);
	sigaction(number, &old_action, nullptr);
}

} // namespace cli
