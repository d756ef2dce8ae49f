// SPDX-License-Identifier: GPL-2.0-or-later
// The run of a measuring subcommand: starts the measured command, waits for its end,
// the end of the time or a signal, and calls the subcommand's functions in between.
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

/// Return whether a signal ends a run.  SIGCHLD only reports a change of the command.
bool ends(caught_signal signal)
{
	return signal.number && signal.number != SIGCHLD;
}

/// End the measured command after a run, and wait for its end without a limit, as it
/// may have much to clean up.  The command gets the signal that has ended the run, and
/// signals that arrive during the wait.
/// @return the last signal that arrived during the wait, 0 for none.
int end_command(child &command, const signals &signal_set, caught_signal signal)
{
	bool reported = !isatty(STDERR_FILENO);
	int last = 0;

	while (command.exists()) {
		// Ctrl-C on a terminal has sent the signal to the command, too.
		if (ends(signal) &&
		    !(signal.by_terminal && command.shares_terminal()))
			command.send(signal.number);

		std::optional<clock::time_point> deadline;

		if (!reported)
			deadline = clock::now() + std::chrono::seconds(1);
		signal = signal_set.wait(deadline);
		if (ends(signal))
			last = signal.number;
		if (command.ended())
			break;
		if (!signal.number && !reported) {
			reported = true;
			note(fmt::format(
				"waiting for '{}' to end, which was interrupted (Ctrl-\\ ends both)",
				command.name()));
		}
	}
	return last;
}

/// Times at which a run reads the counters and polls, and the end of its time.
class schedule {
public:
	schedule(const run_options &options, const run_hooks &hooks)
		: step_(options.interval_ms ? options.interval_ms
					    : hooks.read_ms),
		  poll_(hooks.poll_ms),
		  intervals_left_(options.interval_ms ? options.intervals : 0),
		  started_(clock::now())
	{
		if (options.duration > 0)
			end_ = started_ +
			       std::chrono::duration_cast<nanoseconds>(
				       std::chrono::duration<double>(
					       options.duration));
		next_ = started_ + step_;
	}

	/// Return the time of the next read, poll or end, if there is any.
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
	/// Return whether to read the counters.
	bool is_due(clock::time_point now) const
	{
		return step_.count() && now >= next_;
	}
	bool has_ended(clock::time_point now) const
	{
		return now >= end_ || (intervals_left_ == 1 && is_due(now));
	}
	/// Begin the next interval.  If the process was stopped or slow, skip
	/// intervals that have already ended.  Skipped intervals do not count
	/// for --interval-count, so that the requested number is printed.
	void advance()
	{
		do
			next_ += step_;
		while (next_ <= clock::now());
		if (intervals_left_)
			intervals_left_--;
	}
	double elapsed() const
	{
		return std::chrono::duration<double>(clock::now() - started_)
			.count();
	}

private:
	milliseconds step_, poll_; ///< from one read or poll to the next; 0: none
	/// Remaining intervals; 0: any number
	unsigned intervals_left_;
	clock::time_point started_, next_;
	/// max(): no limit of time
	clock::time_point end_ = clock::time_point::max();
};

/// Line with the progress of a run on a terminal, cleared before other output.
class progress {
public:
	progress(const run_options &options, const run_hooks &hooks)
		: end_(options.duration),
		  enabled_(hooks.progress && !options.interval_ms &&
			   options.command.empty() && isatty(STDERR_FILENO))
	{
	}
	~progress() { clear(); }

	bool is_on() const { return enabled_; }
	void show(double elapsed)
	{
		if (!enabled_ || elapsed < 1)
			return;
		shown_ = true;
		if (end_ > 0)
			fmt::print(stderr, "\r{:.0f} of {:g} s ", elapsed,
				   end_);
		else
			fmt::print(stderr, "\r{:.0f} s, until Ctrl-C ",
				   elapsed);
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
	bool enabled_, shown_ = false;
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
		if (hooks_.prepare)
			if (auto outcome = hooks_.prepare(); !outcome)
				return outcome.error();
		if (has_command_)
			if (auto outcome = command_.start(options_.command);
			    !outcome)
				return outcome.error();
		// The command's process exists and waits for release().  Without
		// a delay, counting begins before the command executes.
		if (!options_.delay_ms)
			if (auto outcome = hooks_.enable(); !outcome)
				return outcome.error();
		if (has_command_)
			if (auto outcome = command_.release(); !outcome)
				return {outcome.error(), command_.status()};

		note_endless_run();

		// Signal for a command that still runs at the end of the time.
		caught_signal end_signal{interruption(), false};

		if (options_.delay_ms) {
			wait_for_delay(end_signal);
			if (auto outcome = hooks_.enable(); !outcome)
				return outcome.error();
		}
		count(end_signal);

		if (const int last_signal =
			    end_command(command_, signals_, end_signal))
			ended_by_ = last_signal;
		if (ended_by_)
			return by_signal + ended_by_;
		return command_ended_ ? command_.status() : success;
	}

private:
	/// Print a note if only Ctrl-C ends the run, with -I alone.
	void note_endless_run() const
	{
		if (hooks_.progress && options_.interval_ms &&
		    !options_.intervals && !options_.duration &&
		    !has_command_ && isatty(STDERR_FILENO))
			note("counting until Ctrl-C");
	}

	/// Call the sample hook, which returns the time until the next call.
	void sample()
	{
		const auto pause =
			hooks_.sample ? hooks_.sample() : nanoseconds(0);

		sample_at_ = pause.count() ? clock::now() + pause
					   : clock::time_point::max();
	}

	/// Return whether a signal or the end of the command has ended the run.
	/// Store a signal in @p end_signal.
	bool is_over(caught_signal signal, caught_signal &end_signal)
	{
		if (ends(signal)) {
			end_signal = signal;
			ended_by_ = signal.number;
		} else {
			command_ended_ = has_command_ && command_.ended();
		}
		return ended_by_ || command_ended_;
	}

	void wait_for_delay(caught_signal &end_signal)
	{
		const auto end = clock::now() + milliseconds(options_.delay_ms);

		while (clock::now() < end)
			if (is_over(signals_.wait(end), end_signal))
				break;
	}

	/// Count until the end of the run.
	/// @param end_signal set to a signal that has ended the run, which the
	/// command gets as well.
	void count(caught_signal &end_signal)
	{
		schedule times(options_, hooks_);

		sample();
		while (!ended_by_ && !command_ended_) {
			const caught_signal signal =
				signals_.wait(wake(times), hooks_.poll_fd);

			if (is_over(signal, end_signal))
				break;

			const auto now = clock::now();

			if (times.has_ended(now))
				break;
			if (hooks_.poll && !hooks_.poll())
				break;
			progress_.show(times.elapsed());
			if (now >= sample_at_)
				sample();
			if (!times.is_due(now))
				continue;
			times.advance();
			if (!hooks_.tick(false))
				return;
		}
		progress_.clear();
		hooks_.tick(true);
	}

	/// Return the time until which to wait for a signal.
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
	/// Signals that end a run, and SIGCHLD for the end of the command.
	signals signals_{SIGINT, SIGTERM, SIGHUP, SIGCHLD};
	child command_;
	progress progress_;
	const bool has_command_;
	bool command_ended_ = false;
	clock::time_point sample_at_ = clock::time_point::max();
	int ended_by_ = 0; ///< number of the signal, 0: none
};

} // namespace

int fail(const run_end &outcome)
{
	fail(outcome.error());
	return outcome.status();
}

run_end run(const run_options &options, const run_hooks &hooks)
{
	return runner(options, hooks).run();
}

} // namespace cli
