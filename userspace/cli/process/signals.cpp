// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/signals.hpp"

#include <algorithm>

#include <poll.h>
#include <sys/signalfd.h>

namespace cli {

using std::chrono::nanoseconds;
using clock = std::chrono::steady_clock;

namespace {

/// Of this process before the first object of signals.
struct inherited_signals {
	sigset_t blocked;
	sighandler_t pipe;
};

std::optional<inherited_signals> inherited;

} // namespace

/// A signal that the caller has ignored (nohup, a shell's background job) stays
/// ignored.  SIGCHLD does not: children would not be waited for.
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
			    int other) const
{
	pollfd fds[] = {{fd_.get(), POLLIN, 0}, {other, POLLIN, 0}};
	timespec time{};
	signalfd_siginfo info;

	if (deadline) {
		const auto left = std::max<nanoseconds>(
			*deadline - clock::now(), nanoseconds(0));

		time = {left.count() / 1000000000, left.count() % 1000000000};
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
	sigset_t one;

	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	sigprocmask(SIG_UNBLOCK, &one, nullptr);
	raise(number);
	return 128 + number;
}

void stop_by(int number)
{
	struct sigaction usual {};
	struct sigaction before;
	sigset_t one, mask;

	usual.sa_handler = SIG_DFL;
	sigemptyset(&one);
	sigaddset(&one, number);
	sigaction(number, &usual, &before);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, &mask); // it stops here
	sigprocmask(SIG_SETMASK, &mask, nullptr);
	sigaction(number, &before, nullptr);
}

} // namespace cli
