// SPDX-License-Identifier: GPL-2.0-or-later
// uncore top: which tasks or cgroups cause the traffic, live or once.
#include "cli.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "attribution.hpp"
#include "counting.hpp"
#include "screen.hpp"
#include "top_columns.hpp"
#include "top_table.hpp"

namespace cli {

using steady = std::chrono::steady_clock;

/// How often keys are looked at and the programs are tended.
static constexpr std::chrono::milliseconds tick(50);

struct top_options {
	std::vector<std::string> events, metrics;
	run_options run;
	std::string weight, by = "task", sort;
	size_t rows = 0, max_tasks = 8192;
	bool once = false, json = false, reverse = false, per_socket = false;
	bool each_cpu = false;
};

static volatile std::sig_atomic_t interrupted;

static void on_signal(int)
{
	interrupted = 1;
}

/// The whole program may be interrupted from here on, and ends by itself.
static void catch_signals()
{
	struct sigaction action {};

	action.sa_handler = on_signal;
	sigaction(SIGINT, &action, nullptr);
	sigaction(SIGTERM, &action, nullptr);
	sigaction(SIGHUP, &action, nullptr);
	std::signal(SIGPIPE, SIG_IGN);
}

// --- what to count

static uncore::result<void> choose_weight(const top_options &options,
					  const uncore::topology &machine,
					  attribution_options &attributed)
{
	if (options.weight == "equal")
		return {};
	auto groups = uncore::parse_events(options.weight, machine);

	if (!groups)
		return groups.error();
	if (groups->size() != 1 || groups->front().terms.size() != 1 ||
	    groups->front().terms[0].events.size() != 1 ||
	    groups->front().terms[0].events[0].pmu)
		return uncore::error{
			uncore::errc::invalid,
			options.weight +
				": a weight is one event that each CPU counts "
				"for itself, such as LLC-load-misses"};
	attributed.weight = groups->front().terms[0].events[0];
	return {};
}

// --- showing

namespace {

/// Where tables go: a screen, text or JSON.
class display {
public:
	display(const top_options &options, const top_settings &settings)
		: options_(options), settings_(settings)
	{
	}

	/// @return false when the reader is gone.
	bool show(const top_table &table);
	void open_screen() { screen_ = std::make_unique<screen>(); }
	/// Reacts to keys; @return false on q.
	bool keys(top_settings &settings);
	bool on_screen() const { return screen_ != nullptr; }
	void close_screen() { screen_.reset(); }

private:
	std::string heading(const top_table &table) const;

	const top_options &options_;
	const top_settings &settings_;
	cgroup_names cgroups_;
	std::unique_ptr<screen> screen_;
	bool shown_ = false;
};

} // namespace

std::string display::heading(const top_table &table) const
{
	return fmt::format("uncore top: {:.2f} s, by {}, weight {}",
			   table.seconds,
			   settings_.by == top_by::cgroup    ? "cgroup"
			   : settings_.by == top_by::process ? "process"
							     : "task",
			   options_.weight);
}

bool display::show(const top_table &table)
{
	if (options_.json) {
		auto json = json_table(table, settings_, cgroups_);

		json["weight"] = options_.weight;
		using handler = nlohmann::json::error_handler_t;
		fmt::print("{}\n", json.dump(-1, ' ', false, handler::replace));
	} else if (screen_) {
		std::vector<std::string> lines{
			heading(table) +
			"   (q quit, s sort, b by, r reverse)"};
		auto text = show_table(table, settings_, cgroups_,
				       screen_->width());

		lines.insert(lines.end(), text.begin(), text.end());
		for (const auto &warning : table.warnings)
			lines.push_back(warning);
		screen_->draw(lines, 1);
	} else {
		fmt::print("{}{}\n", shown_ ? "\n" : "", heading(table));
		for (const auto &line :
		     show_table(table, settings_, cgroups_, 0))
			fmt::print("{}\n", line);
	}
	if (!screen_)
		for (const auto &warning : table.warnings)
			fail(warning);
	shown_ = true;
	return screen_ || std::fflush(stdout) == 0;
}

static void next_sort(top_settings &settings)
{
	std::vector<std::string> keys;

	for (const auto &column : settings.columns)
		if (!column.hidden)
			keys.push_back(column.name);
	for (const auto &metric : settings.metrics)
		keys.push_back(metric.name);
	keys.insert(keys.end(), {"cpu", "pid", "name"});
	auto at = std::find(keys.begin(), keys.end(), settings.sort);

	if (at == keys.end() || ++at == keys.end())
		at = keys.begin();
	settings.sort = *at;
}

bool display::keys(top_settings &settings)
{
	for (int key; screen_ && (key = screen_->key()) >= 0;) {
		switch (key) {
		case 'q':
			return false;
		case 's':
			next_sort(settings);
			break;
		case 'r':
			settings.reverse = !settings.reverse;
			break;
		case 'b':
			settings.by = settings.by == top_by::task
					      ? top_by::process
				      : settings.by == top_by::process
					      ? top_by::cgroup
					      : top_by::task;
			break;
		}
	}
	return true;
}

// --- running

/// Until it is time for the next table; @return false when it is the last one.
static uncore::result<bool>
wait_interval(attribution &programs, display &output, top_settings &settings,
	      child *command, steady::time_point next)
{
	while (steady::now() < next) {
		if (interrupted || !output.keys(settings) ||
		    (command && command->ended()))
			return false;
		auto done = programs.tend();

		if (!done)
			return done.error();
		auto left = next - steady::now();

		std::this_thread::sleep_for(std::min<steady::duration>(
			std::max(left, steady::duration::zero()), tick));
	}
	return true;
}

static uncore::result<void> run_tables(attribution &programs,
				       const top_options &options,
				       top_settings &settings, child *command)
{
	display output(options, settings);
	std::chrono::milliseconds interval(options.run.interval_ms);
	size_t left = options.once ? 1 : options.run.intervals;
	auto next = steady::now();
	auto last =
		options.run.duration > 0
			? next + std::chrono::duration_cast<steady::duration>(
					 std::chrono::duration<double>(
						 options.run.duration))
			: steady::time_point::max();

	if (!options.once && !options.json && isatty(STDOUT_FILENO) && !command)
		output.open_screen();
	for (bool more = true; more;) {
		next += interval;
		// one table of a command or a duration is of all of it
		bool whole =
			options.once && (command || options.run.duration > 0);
		auto end = std::min(whole ? last : next, last);
		auto on =
			wait_interval(programs, output, settings, command, end);

		if (!on)
			return on.error();
		more = *on && left != 1 && end != last;
		if (left)
			left--;
		if (!more)
			programs.stop();
		// who quits looks at the screen no more
		if (!*on && output.on_screen())
			break;
		auto account = programs.take();

		if (!account)
			return account.error();
		if (!output.show(make_table(*account, settings)))
			break;
	}
	return {};
}

static int check_options(const top_options &options, top_settings &settings)
{
	if (options.sort.empty())
		settings.sort = settings.columns.front().hidden
					? settings.metrics.front().name
					: settings.columns.front().name;
	else if (!is_sort_key(options.sort, settings))
		return fail_usage(options.sort +
				  ": nothing to sort by; there are the events' "
				  "and metrics' names, cpu, pid and name");
	else
		settings.sort = options.sort;
	return success;
}

static int top(const top_options &options, const context &shared)
{
	auto machine = uncore::topology::read(shared.sysfs);
	attribution_options attributed;
	top_settings settings;

	if (!machine)
		return fail(machine.error());
	auto done = add_columns(options.events, options.metrics, *machine,
				attributed.columns, settings);

	if (done)
		done = choose_weight(options, *machine, attributed);
	if (!done)
		return fail(done.error());
	if (int status = check_options(options, settings))
		return status;
	settings.by = options.by == "cgroup"	? top_by::cgroup
		      : options.by == "process" ? top_by::process
						: top_by::task;
	settings.reverse = options.reverse;
	settings.per_socket = options.per_socket;
	settings.rows = options.rows;
	attributed.max_tasks = options.max_tasks;
	attributed.each_cpu = options.each_cpu;

	catch_signals();
	child command;
	if (!options.run.command.empty()) {
		done = command.start(options.run.command);
		if (!done)
			return fail(done.error());
	}
	auto programs = attribution::start(std::move(attributed), *machine);

	if (!programs)
		return fail(programs.error());
	bool commanded = command.exists();
	if (commanded) {
		done = command.release();
		if (!done)
			return fail(done.error());
	}
	done = run_tables(**programs, options, settings,
			  commanded ? &command : nullptr);
	if (!done)
		return fail(done.error());
	return commanded && !command.exists() ? command.status() : success;
}

void add_top(CLI::App &app, context &shared)
{
	auto o = std::make_shared<top_options>();
	auto *command =
		add_command(app, shared, "top",
			    "Show which tasks or cgroups cause the traffic",
			    [o, &shared] { return top(*o, shared); });

	o->weight = "equal";
	command->add_option("-e,--event", o->events,
			    "Events, or memory (the default: what is read and "
			    "written), llc (misses), qpi (data sent)")
		->allow_extra_args(false);
	command->add_option("-M,--metrics", o->metrics,
			    "Metrics, or a group of them, of each task's share")
		->allow_extra_args(false)
		->type_name("METRIC,...");
	command->add_option("--by", o->by, "Sum by task, process or cgroup")
		->check(CLI::IsMember({"task", "process", "cgroup"}));
	command->add_option("--sort", o->sort,
			    "An event's or metric's name, cpu, pid or name");
	command->add_flag("--reverse", o->reverse, "Least active first");
	command->add_flag("--per-socket", o->per_socket,
			  "A column for each socket");
	command->add_option("--weight", o->weight,
			    "An event of the core: a task's share is as its "
			    "CPU's rate of it (default equal shares)");
	command->add_flag("--once", o->once, "One table, then end");
	command->add_option("--rows", o->rows, "Tasks to show (0: all)");
	command->add_option("--max-tasks", o->max_tasks,
			    "Tasks told apart in an interval (8192)")
		->check(CLI::Range(1, 1 << 20));
	command->add_flag("--each-cpu", o->each_cpu,
			  "Open events on each CPU even where the kernel can "
			  "read a package's from all of them");
	command->add_flag("--json", o->json, "JSON, a line each table");
	add_run_options(*command, o->run);
	o->run.interval_ms = 1000;
}

} // namespace cli
