// SPDX-License-Identifier: GPL-2.0-or-later
// How long the measuring subcommands count: for a time, while a command runs,
// or until Ctrl-C; and what happens at each interval.
#include "counting/run.hpp"

#include <algorithm>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

#include "output/message.hpp"
#include "process/child.hpp"
#include "process/signals.hpp"

namespace cli {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using clock = std::chrono::steady_clock;

void add_time_options(parser &command, run_options &options)
{
	command.add_option("-d,--duration", options.duration,
			   "Count for N seconds, 0.001 or more")
		.range(0.001, 1e9)
		.type_name("SECONDS");
	command.add_option(
		       "command", options.command,
		       "Count while this runs; other programs' traffic is counted as well")
		.type_name("COMMAND [ARGUMENT...]");
}

void add_run_options(parser &command, run_options &options)
{
	command.add_option(
		       "-I,--interval", options.interval_ms,
		       "Print what was counted every N milliseconds, 1 or more")
		.range(1, 3600000)
		.type_name("MILLISECONDS");
	command.add_option("--interval-count", options.intervals,
			   "End after that many intervals")
		.range(1, 1000000000)
		.type_name("N");
	add_time_options(command, options);
}

namespace {

/// Does it end a run?
bool ends(caught_signal got)
{
	return got.number && got.number != SIGCHLD;
}

/// At the end of a run: has the command end, and waits however long it takes.
/// It is sent one signal, that which has ended the run, and those that come
/// while it is waited for.
/// @return the last of these signals, 0 for none.
int end_command(child &command, const signals &caught, caught_signal why)
{
	bool said = !isatty(STDERR_FILENO);
	int last = 0;

	while (command.exists()) {
		// What a terminal sends, it sends to both.
		if (ends(why) &&
		    !(why.by_terminal && command.shares_terminal()))
			command.send(why.number);

		std::optional<clock::time_point> patience;

		if (!said)
			patience = clock::now() + std::chrono::seconds(1);
		why = caught.wait(patience);
		if (ends(why))
			last = why.number;
		if (command.ended())
			break;
		if (!why.number && !said) {
			said = true;
			note(fmt::format(
				"waiting for '{}' to end, which was interrupted (Ctrl-\\ ends both)",
				command.name()));
		}
	}
	return last;
}

/// When a run reads the counters, and when it ends.
class schedule {
public:
	schedule(const run_options &options, const run_hooks &hooks)
		: step_(options.interval_ms ? options.interval_ms
					    : hooks.read_ms),
		  poll_(hooks.poll_ms),
		  left_(options.interval_ms ? options.intervals : 0),
		  started_(clock::now())
	{
		if (options.duration > 0)
			end_ = started_ +
			       std::chrono::duration_cast<nanoseconds>(
				       std::chrono::duration<double>(
					       options.duration));
		next_ = started_ + step_;
	}

	/// When to wake, if at all.
	std::optional<clock::time_point> wake() const
	{
		auto next = end_;

		if (step_.count())
			next = std::min(next, next_);
		if (poll_.count())
			next = std::min<clock::time_point>(next, clock::now() +
									 poll_);
		if (next == clock::time_point::max())
			return std::nullopt;
		return next;
	}
	bool due(clock::time_point now) const
	{
		return step_.count() && now >= next_;
	}
	bool over(clock::time_point now) const
	{
		return now >= end_ || (left_ == 1 && due(now));
	}
	/// Missed intervals are left out and do not count: the requested number
	/// of them is printed.
	void advance()
	{
		do
			next_ += step_;
		while (next_ <= clock::now());
		if (left_)
			left_--;
	}
	double passed() const
	{
		return std::chrono::duration<double>(clock::now() - started_)
			.count();
	}

private:
	milliseconds step_, poll_;
	/// How many intervals are still to come; 0: any number
	unsigned left_;
	clock::time_point started_, next_;
	/// max(): until something else ends it
	clock::time_point end_ = clock::time_point::max();
};

/// A line on a person's terminal that says how far a run is; gone when there is
/// something to read.
class progress {
public:
	progress(const run_options &options, const run_hooks &hooks)
		: end_(options.duration),
		  on_(hooks.progress && !options.interval_ms &&
		      options.command.empty() && isatty(STDERR_FILENO))
	{
	}
	~progress() { clear(); }

	bool is_on() const { return on_; }
	void show(double passed)
	{
		if (!on_ || passed < 1)
			return;
		shown_ = true;
		if (end_ > 0)
			fmt::print(stderr, "\r{:.0f} of {:g} s ", passed, end_);
		else
			fmt::print(stderr, "\r{:.0f} s, until Ctrl-C ", passed);
		std::fflush(stderr);
	}
	void clear()
	{
		if (shown_)
			fmt::print(stderr, "\r\033[K");
		shown_ = false;
	}

private:
	double end_;
	bool on_, shown_ = false;
};

/// A run between its start and its end.
class runner {
public:
	runner(const run_options &options, const run_hooks &hooks)
		: options_(options), hooks_(hooks), progress_(options, hooks),
		  has_command_(!options.command.empty())
	{
	}

	run_end run()
	{
		if (has_command_)
			if (auto done = command_.start(options_.command); !done)
				return done.error();
		// Counting begins before the command, or after the delay.
		if (!options_.delay_ms)
			if (auto done = hooks_.enable(); !done)
				return done.error();
		if (has_command_)
			if (auto done = command_.release(); !done)
				return {done.error(), command_.status()};

		say_how_it_ends();

		caught_signal why{interruption(), false};

		if (options_.delay_ms) {
			wait_for_delay(why);
			if (auto done = hooks_.enable(); !done)
				return done.error();
		}
		count(why);

		if (const int later = end_command(command_, caught_, why))
			ended_by_ = later;
		if (ended_by_)
			return by_signal + ended_by_;
		return command_ended_ ? command_.status() : success;
	}

private:
	/// With -I alone, it is not the command line that ends it.
	void say_how_it_ends() const
	{
		if (hooks_.progress && options_.interval_ms &&
		    !options_.intervals && !options_.duration &&
		    !has_command_ && isatty(STDERR_FILENO))
			note("counting until Ctrl-C");
	}

	void sample()
	{
		const auto pause =
			hooks_.sample ? hooks_.sample() : nanoseconds(0);

		sample_at_ = pause.count() ? clock::now() + pause
					   : clock::time_point::max();
	}

	/// Has a signal or the end of the command ended the run?
	bool is_over(caught_signal got, caught_signal &why)
	{
		if (ends(got)) {
			why = got;
			ended_by_ = got.number;
		} else {
			command_ended_ = has_command_ && command_.ended();
		}
		return ended_by_ || command_ended_;
	}

	void wait_for_delay(caught_signal &why)
	{
		const auto end = clock::now() + milliseconds(options_.delay_ms);

		while (clock::now() < end)
			if (is_over(caught_.wait(end), why))
				break;
	}

	/// @param why is set to what has ended the run, for the command to get
	/// as well.
	void count(caught_signal &why)
	{
		schedule times(options_, hooks_);

		sample();
		while (!ended_by_ && !command_ended_) {
			const caught_signal got =
				caught_.wait(wake(times), hooks_.poll_fd);

			if (is_over(got, why))
				break;

			const auto now = clock::now();

			if (times.over(now))
				break;
			if (hooks_.poll && !hooks_.poll())
				break;
			progress_.show(times.passed());
			if (now >= sample_at_)
				sample();
			if (!times.due(now))
				continue;
			times.advance();
			if (!hooks_.tick(false))
				return;
		}
		progress_.clear();
		hooks_.tick(true);
	}

	std::optional<clock::time_point> wake(const schedule &times) const
	{
		auto next = std::min(
			times.wake().value_or(clock::time_point::max()),
			sample_at_);

		if (progress_.is_on())
			next = std::min<clock::time_point>(
				next, clock::now() + std::chrono::seconds(1));
		if (next == clock::time_point::max())
			return std::nullopt;
		return next;
	}

	const run_options &options_;
	const run_hooks &hooks_;
	/// What ends a run, and the end of the command.
	signals caught_{SIGINT, SIGTERM, SIGHUP, SIGCHLD};
	child command_;
	progress progress_;
	const bool has_command_;
	bool command_ended_ = false;
	clock::time_point sample_at_ = clock::time_point::max();
	int ended_by_ = 0; ///< the signal, 0 for none
};

} // namespace

int fail(const run_end &ended)
{
	fail(ended.error());
	return ended.status();
}

run_end run(const run_options &options, const run_hooks &hooks)
{
	return runner(options, hooks).run();
}

} // namespace cli
