// SPDX-License-Identifier: GPL-2.0-or-later
// How long the measuring subcommands count: for a time, while a command runs,
// or until Ctrl-C; and what happens at each interval.
#include "counting.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace cli {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using clock = std::chrono::steady_clock;

void add_time_options(CLI::App &command, run_options &options)
{
	command.add_option("-d,--duration", options.duration,
			   "Count for so many seconds")
		->check(CLI::Range(0.001, 1e9));
	command.add_option("command", options.command,
			   "Count while this runs: -- COMMAND [ARGUMENT...]");
}

void add_run_options(CLI::App &command, run_options &options)
{
	command.add_option("-I,--interval", options.interval_ms,
			   "Print what was counted every so many milliseconds")
		->check(CLI::Range(1, 3600000));
	command.add_option("--interval-count", options.intervals,
			   "End after that many intervals")
		->check(CLI::Range(1, 1000000000));
	add_time_options(command, options);
}

child::~child()
{
	stop();
}

/// In the new process: waits to be released, and becomes the command.
void child::become(const std::vector<std::string> &command, int go, int fate)
{
	std::vector<char *> arguments;
	sigset_t none;
	char byte;

	for (const std::string &argument : command)
		arguments.push_back(const_cast<char *>(argument.c_str()));
	arguments.push_back(nullptr);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, nullptr);
	signal(SIGPIPE, SIG_DFL);
	// Nobody releases us: the parent is gone.
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
	if (got == sizeof(number))
		return uncore::error{
			uncore::errc::not_found,
			fmt::format("{}: {}", name_, strerror(number))};
	return {};
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

void child::stop()
{
	if (go_ >= 0)
		close(go_);
	if (fate_ >= 0)
		close(fate_);
	go_ = fate_ = -1;
	for (int tenths = 0; process_ > 0 && !ended(); tenths++) {
		kill(process_, tenths < 30 ? SIGTERM : SIGKILL);
		usleep(tenths ? 100000 : 1000);
	}
}

namespace {

/// The signals that end a run, and the child's end, taken one by one instead of
/// interrupting.
class signals {
public:
	signals()
	{
		sigemptyset(&set_);
		for (int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
			sigaddset(&set_, number);
		sigprocmask(SIG_BLOCK, &set_, &old_);
		pipe_ = signal(SIGPIPE, SIG_IGN);
	}
	signals(const signals &) = delete;
	~signals()
	{
		signal(SIGPIPE, pipe_);
		sigprocmask(SIG_SETMASK, &old_, nullptr);
	}

	/// @return a signal's number, or 0 at @p deadline.
	int wait(std::optional<clock::time_point> deadline) const
	{
		if (!deadline)
			return std::max(0, sigwaitinfo(&set_, nullptr));

		auto left = std::max<nanoseconds>(*deadline - clock::now(),
						  nanoseconds(0));
		timespec time{left.count() / 1000000000,
			      left.count() % 1000000000};

		return std::max(0, sigtimedwait(&set_, nullptr, &time));
	}

private:
	sigset_t set_, old_;
	sighandler_t pipe_;
};

/// When a run reads the counters, and when it ends.
class schedule {
public:
	schedule(const run_options &options, unsigned read_ms)
		: step_(options.interval_ms ? options.interval_ms : read_ms),
		  started_(clock::now())
	{
		if (options.duration > 0)
			end_ = started_ +
			       std::chrono::duration_cast<nanoseconds>(
				       std::chrono::duration<double>(
					       options.duration));
		if (options.intervals && options.interval_ms)
			end_ = std::min(end_.value_or(clock::time_point::max()),
					started_ + step_ * options.intervals);
		next_ = started_ + step_;
	}

	/// When to wake, if at all.
	std::optional<clock::time_point> wake() const
	{
		if (!step_.count())
			return end_;
		return std::min(next_, end_.value_or(clock::time_point::max()));
	}
	bool over() const { return end_ && clock::now() >= *end_; }
	bool due() const { return step_.count() && clock::now() >= next_; }
	/// Intervals that were missed are left out.
	void advance()
	{
		do
			next_ += step_;
		while (next_ <= clock::now());
	}

private:
	milliseconds step_;
	clock::time_point started_, next_;
	std::optional<clock::time_point> end_;
};

} // namespace

uncore::result<int> run(const run_options &options, const run_hooks &hooks)
{
	signals caught;
	child command;

	if (!options.command.empty())
		if (auto started = command.start(options.command); !started)
			return started.error();
	if (auto enabled = hooks.enable(); !enabled)
		return enabled.error();
	if (command.exists())
		if (auto released = command.release(); !released)
			return released.error();

	const bool had_command = command.exists();
	bool command_ended = false;
	schedule times(options, hooks.read_ms);

	for (;;) {
		int number = caught.wait(times.wake());

		if (number && number != SIGCHLD)
			break;
		command_ended = had_command && command.ended();
		if (command_ended || times.over())
			break;
		if (!times.due())
			continue;
		times.advance();
		if (!hooks.tick(false))
			return 0;
	}
	hooks.tick(true);
	command.stop();
	return command_ended ? command.status() : 0;
}

} // namespace cli
