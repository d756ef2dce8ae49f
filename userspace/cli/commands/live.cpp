// SPDX-License-Identifier: GPL-2.0-or-later
// uncore live: current and recent counts of the machine on a terminal.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include "commands/commands.hpp"
#include "exporter/collector.hpp"
#include "live/page.hpp"
#include "output/message.hpp"
#include "output/sink.hpp"
#include "process/signals.hpp"
#include "terminal/layout.hpp"
#include "terminal/screen.hpp"

namespace cli {

namespace {

using live_clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Longest time between two calls of live_tasks::tend().
constexpr milliseconds live_tick{100};
/// Time for which a reported message stays on the page.
constexpr std::chrono::seconds message_time{30};

struct live_options {
	unsigned interval_ms = 1000;
	bool once = false, no_tasks = false;
};

class live_view {
public:
	live_view(const context &shared, const live_options &options)
		: options_(options), sysfs_(shared.sysfs),
		  counters_({shared.sysfs, false, false,
			     [this](const std::string &text) { report(text); }})
	{
		content_.interval = milliseconds(options.interval_ms);
		utf8_ = has_utf8();
	}

	/// Print one page.  @return the exit status.
	int once();
	/// Show pages until the user quits.  @return the exit status.
	int run();

private:
	uncore::result<void> open();
	void report(const std::string &message);
	std::string message() const;
	void read();
	bool handle_signal(int signal);
	bool handle_keys();
	void draw();
	/// Check whether the terminal was closed.
	static bool is_hung_up();

	const live_options &options_;
	const std::filesystem::path sysfs_;
	collector counters_;
	live_tasks tasks_;
	live_content content_;
	std::optional<live_content>
		paused_content_; ///< content at the begin of a pause
	live_state state_;
	cgroup_names cgroups_;
	std::string message_;
	live_clock::time_point reported_at_{};
	std::unique_ptr<screen> screen_;
	bool utf8_ = false;
};

void live_view::report(const std::string &message)
{
	message_ = message;
	reported_at_ = live_clock::now();
}

/// Return the current problem, or else the last reported message.
std::string live_view::message() const
{
	const std::set<int> &offline = content_.numbers.offline();

	if (!counters_.problem().empty())
		return counters_.problem();
	if (!offline.empty())
		return fmt::format("socket{} {} ha{} no CPU online: nothing is "
				   "counted there",
				   offline.size() > 1 ? "s" : "",
				   fmt::join(offline, ", "),
				   offline.size() > 1 ? "ve" : "s");
	if (const auto &faults = counters_.down(); !faults.empty()) {
		const auto &[box, reason] = *faults.begin();

		return fmt::format("{} of socket {}{} {}: it is not measured",
				   box.first->name, box.second,
				   faults.size() > 1
					   ? fmt::format(", one of {} boxes,",
							 faults.size())
					   : "",
				   reason == "dead" ? "does not answer"
						    : "has stopped counting");
	}
	if (live_clock::now() - reported_at_ < message_time)
		return message_;
	const std::vector<std::string> unusable = content_.limits.problems();

	return unusable.empty() ? "" : unusable.front();
}

uncore::result<void> live_view::open()
{
	if (auto opened = counters_.open(); !opened)
		return opened;
	if (options_.no_tasks)
		state_.focus = pane::numbers;
	else
		tasks_.start(sysfs_);
	// The first interval begins with this read.
	read();
	return {};
}

void live_view::read()
{
	const bool had_counters = counters_.problem().empty();

	auto families = counters_.read();

	content_.limits.take(counters_);
	content_.verdicts = content_.limits.verdicts(counters_);
	content_.numbers.take(std::move(families), counters_, content_.limits);
	if (!options_.no_tasks) {
		if (!had_counters && counters_.problem().empty())
			tasks_.start(sysfs_);
		tasks_.take();
	}
	content_.tasks = tasks_.last();
	content_.columns = tasks_.columns();
	content_.no_tasks = tasks_.problem();
	content_.message = message();
}

// --- once

int live_view::once()
{
	const signals signal_set({SIGINT, SIGTERM, SIGHUP});
	const auto end = live_clock::now() + milliseconds(options_.interval_ms);
	const size_t terminal_columns = columns_of(stdout);
	std::string text;

	if (auto opened = open(); !opened)
		return fail(opened.error());
	while (live_clock::now() < end) {
		const auto wakeup =
			std::min(end, live_clock::now() + live_tick);

		if (const int number = signal_set.wait(wakeup).number)
			return by_signal + number;
		tasks_.tend();
	}
	read();

	// If the width is not known, make the page wide enough for all sockets.
	const size_t columns =
		terminal_columns
			? terminal_columns
			: std::max<size_t>(
				  80,
				  14 + 33 * content_.numbers.sockets().size());

	for (const styled_line &line :
	     make_page(content_, state_, cgroups_, {columns, 0, utf8_})) {
		std::string row;

		for (const styled_text &part : line)
			row += part.text;
		row.erase(row.find_last_not_of(' ') + 1);
		text += row + '\n';
	}
	if (!content_.message.empty())
		note(content_.message);

	sink output;

	return output.show(text) ? success : failure;
}

// --- on a terminal

void live_view::draw()
{
	screen_->draw(make_page(paused_content_ ? *paused_content_ : content_,
				state_, cgroups_,
				{screen_->width(), screen_->height(), utf8_}));
}

/// Handle a signal; 0 is a timeout. @return false when the command has to end.
bool live_view::handle_signal(int signal)
{
	switch (signal) {
	case 0:
		return true;
	case SIGTSTP:
		screen_->suspend();
		stop_by(signal);
		[[fallthrough]];
	case SIGCONT:
		screen_->resume();
		break;
	case SIGWINCH:
		screen_->resize();
		break;
	default:
		return false;
	}
	draw();
	return true;
}

bool live_view::handle_keys()
{
	bool key_pressed = false;

	for (int key; (key = screen_->key()) >= 0; key_pressed = true) {
		if (react(state_, key, screen_->height() / 2) == reaction::quit)
			return false;
		if (state_.paused && !paused_content_)
			paused_content_ = content_;
		else if (!state_.paused)
			paused_content_.reset();
	}
	if (key_pressed)
		draw();
	return true;
}

bool live_view::is_hung_up()
{
	pollfd input = {STDIN_FILENO, POLLIN, 0};

	return poll(&input, 1, 0) == 1 &&
	       (input.revents & (POLLHUP | POLLERR | POLLNVAL));
}

int live_view::run()
{
	const signals signal_set({SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT,
				  SIGWINCH, SIGUSR1, SIGUSR2});
	const milliseconds interval(options_.interval_ms);

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return fail("input or output is not a terminal: 'uncore live "
			    "--once' prints one page, 'uncore stat -I 1000' "
			    "numbers all the time");
	if (auto opened = open(); !opened)
		return fail(opened.error());
	screen_ = screen::open();
	if (!screen_) {
		const char *name = std::getenv("TERM");

		return fail(fmt::format(
			"the terminal '{}' is unknown or shows lines only (see "
			"TERM): 'uncore live --once' prints one page",
			name ? name : ""));
	}

	auto next = live_clock::now() + interval;
	int ended_by = 0;

	draw();
	for (;;) {
		const auto signal = signal_set.wait(
			std::min(next, live_clock::now() + live_tick),
			STDIN_FILENO);

		if (!handle_signal(signal.number)) {
			ended_by = signal.number;
			break;
		}
		if (is_hung_up() || !handle_keys())
			break;
		tasks_.tend();
		if (live_clock::now() < next)
			continue;
		read();
		draw();
		next = std::max(next + interval, live_clock::now());
	}
	screen_.reset();
	return ended_by ? by_signal + ended_by : success;
}

} // namespace

void add_live(parser &app, context &shared)
{
	auto options = std::make_shared<live_options>();
	parser command = add_command(
		app, shared, "live", "Show the machine's counters as they are",
		[options, &shared] {
			live_view view(shared, *options);

			return options->once ? view.once() : view.run();
		});

	add_examples(command, "uncore live", "uncore live --once -I 5000");
	command.add_option("-I,--interval", options->interval_ms,
			   "Read the counters every N milliseconds, 100 "
			   "or more (1000)")
		.range(100, 3600000)
		.type_name("MILLISECONDS");
	command.add_flag("--once", options->once,
			 "Print one page of an interval, as text");
	command.add_flag("--no-tasks", options->no_tasks,
			 "Leave out who causes the traffic");
}

} // namespace cli
