// SPDX-License-Identifier: GPL-2.0-or-later
// uncore top: which tasks or cgroups cause the traffic, live or once.

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "attribution/attribution_run.hpp"
#include "attribution/top_columns.hpp"
#include "attribution/top_table.hpp"
#include "commands/commands.hpp"
#include "counting/run.hpp"
#include "output/document.hpp"
#include "output/message.hpp"
#include "output/sink.hpp"
#include "terminal/screen.hpp"

namespace cli {

/// By tree: for each of --max-tasks, room for so many tasks that exist at the same time.
static constexpr size_t tree_tasks = 8;

struct top_options {
	std::vector<std::string> events, metrics;
	run_options run;
	std::string weight, by = "task", sort;
	size_t rows = 0, max_tasks = 8192;
	bool once = false, reverse = false, per_socket = false;
	format form = format::human;
	std::string output;
	unsigned resolution_us = 100;
	bool each_cpu = false, bounded_loops = false;
	std::vector<int> pids;
	std::vector<std::string> comms, cgroups;
};

// --- weight of a task

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
				": a weight is one event that each CPU counts for itself, such as LLC-load-misses"};
	attributed.weight = groups->front().terms[0].events[0];
	return {};
}

// --- showing

static constexpr const char *no_cgroups =
	"no file system of cgroups is mounted, so that all tasks are in one row: mount -t cgroup2 none /sys/fs/cgroup";

namespace {

/// Shows a table for each account: on a screen, where keys change the order and the rows,
/// or one after the other on the output.
class display {
public:
	display(const top_options &options, top_settings &settings,
		const uncore::topology &machine, sink &output)
		: options_(options), settings_(settings), machine_(machine),
		  output_(output)
	{
	}

	/// From now on show only the last table, if the terminal supports it.
	void open_screen() { screen_ = screen::open(); }
	void close_screen() { screen_.reset(); }
	bool on_screen() const { return screen_ != nullptr; }
	void take(account interval_account)
	{
		last_account_ = std::move(interval_account);
	}
	/// Show the table of the account that was taken last.
	/// @param last whether the run ends.
	/// @return false when the output cannot be written.
	bool show(bool last);
	/// Handle pressed keys.  @return false on q.
	bool handle_keys();

private:
	bool print(const top_table &table);
	std::string heading(const top_table &table) const;
	std::vector<std::string> notes_on_cgroups() const;
	void draw();

	const top_options &options_;
	top_settings &settings_;
	const uncore::topology &machine_;
	sink &output_;
	cgroup_names cgroups_;
	std::unique_ptr<screen> screen_;
	std::optional<account> last_account_;
	double elapsed_seconds_ = 0; ///< of all printed tables
	bool shown_ = false;
};

} // namespace

/// Return reasons why cgroups of the command line have no rows: notes, not errors, as a
/// cgroup may be created later.
std::vector<std::string> display::notes_on_cgroups() const
{
	if (!cgroups_.are_there()) {
		if (settings_.by == top_by::cgroup || !options_.cgroups.empty())
			return {no_cgroups};
		return {};
	}

	std::vector<std::string> notes;

	for (const std::string &name : options_.cgroups)
		if (!cgroups_.exists(cgroups_.path_of(name)))
			notes.push_back(fmt::format(
				"there is no cgroup '{}': it has rows once it exists (systemd-cgls lists all)",
				name));
	return notes;
}

/// Names of the option --by, in the order of top_by.
static constexpr std::array<const char *, 4> by_names = {"task", "process",
							 "cgroup", "tree"};

std::string display::heading(const top_table &table) const
{
	return fmt::format("uncore top: {:.2f} s, by {}, weight {}",
			   table.seconds, by_names[size_t(settings_.by)],
			   options_.weight);
}

bool display::print(const top_table &table)
{
	const bool first = !std::exchange(shown_, true);

	if (first)
		for (const auto &text : notes_on_cgroups())
			note(text);
	if (options_.form == format::json) {
		auto document = begin_document("top", &machine_);

		document.update(json_table(table, settings_, cgroups_,
					   elapsed_seconds_));
		document["weight"] = options_.weight;
		return output_.write(document_line(document));
	}
	if (options_.form == format::csv)
		return output_.write((first ? csv_titles() : "") +
				     csv_table(table, settings_, cgroups_,
					       elapsed_seconds_));

	std::string text = (first ? "" : "\n") + heading(table) + '\n';

	for (const auto &line : show_table(table, settings_, cgroups_, 0))
		text += line + '\n';
	return output_.show(text);
}

void display::draw()
{
	const top_table table = make_table(*last_account_, settings_);
	std::vector<std::string> lines{heading(table) +
				       "   (q quit, s sort, b by, r reverse)"};
	auto text = show_table(table, settings_, cgroups_, screen_->width());

	lines.insert(lines.end(), text.begin(), text.end());
	lines.insert(lines.end(), table.warnings.begin(), table.warnings.end());
	for (const auto &text : notes_on_cgroups())
		lines.push_back(text);
	screen_->draw(lines, 1);
}

bool display::show(bool last)
{
	if (screen_) {
		// A last table on the screen would disappear at once.
		if (!last)
			draw();
		return true;
	}

	const top_table table = make_table(*last_account_, settings_);

	elapsed_seconds_ += table.seconds;

	const bool written = print(table);

	for (const auto &warning : table.warnings)
		note(warning);
	return written;
}

/// Sort by the next column, metric or other key from now on.
static void next_sort(top_settings &settings)
{
	std::vector<std::string> keys;

	for (const auto &column : settings.columns)
		if (!column.hidden)
			keys.push_back(column.name);
	for (const auto &metric : settings.metrics)
		keys.push_back(metric.name);
	keys.insert(keys.end(), {"cpu", "pid", "name"});
	auto sort_key = std::find(keys.begin(), keys.end(), settings.sort);

	if (sort_key == keys.end() || ++sort_key == keys.end())
		sort_key = keys.begin();
	settings.sort = *sort_key;
}

bool display::handle_keys()
{
	bool key_pressed = false;

	for (int key; screen_ && (key = screen_->key()) >= 0;
	     key_pressed = true) {
		switch (key) {
		case 'q':
			return false;
		case 's':
			next_sort(settings_);
			break;
		case 'r':
			settings_.reverse = !settings_.reverse;
			break;
		case 'b':
			// By tree, accounts have no tasks and processes.
			if (settings_.by != top_by::tree)
				settings_.by = settings_.by == top_by::task
						       ? top_by::process
					       : settings_.by == top_by::process
						       ? top_by::cgroup
						       : top_by::task;
			break;
		}
	}
	// ncurses reports a new size of the terminal as a key, too.
	if (key_pressed && last_account_)
		draw();
	return true;
}

// --- running

/// Return the times of a run.  With --once the only table is of the whole command or
/// duration if there is one, else of one interval.
static run_options times_of(const top_options &options)
{
	run_options times = options.run;

	if (!options.once)
		return times;
	if (times.command.empty() && !times.duration)
		times.intervals = 1;
	else
		times.interval_ms = 0;
	return times;
}

static int run_top(const top_options &options, top_settings &settings,
		   attribution_options attributed,
		   const uncore::topology &machine)
{
	const run_options times = times_of(options);
	sink output;
	display view(options, settings, machine, output);
	attribution_hooks hooks;

	if (auto opened = output.open(options.output); !opened)
		return fail(opened.error());

	hooks.enabled = [&] {
		if (options.form == format::human && options.output.empty() &&
		    !options.once && times.command.empty())
			view.open_screen();
	};
	hooks.poll = [&] { return view.handle_keys(); };
	hooks.add = [&](account interval_account) {
		view.take(std::move(interval_account));
	};
	hooks.print = [&](bool last) { return view.show(last); };

	const run_end ended =
		run_attribution(times, std::move(attributed), machine, hooks);

	view.close_screen();
	return ended ? ended.status() : fail(ended);
}

/// Check that all processes of -p exist, as a missing process would have no rows.
static int check_processes(const std::vector<int> &pids)
{
	for (const int pid : pids)
		if (kill(pid, 0) && errno == ESRCH)
			return fail(fmt::format("there is no process {}", pid));
	return success;
}

/// Choose the sort key: of --sort, or the first column or metric that is shown.
static int check_options(const top_options &options, top_settings &settings)
{
	if (options.sort.empty())
		settings.sort = settings.columns.front().hidden
					? settings.metrics.front().name
					: settings.columns.front().name;
	else if (!is_sort_key(options.sort, settings))
		return fail_usage(
			options.sort +
			": nothing to sort by; there are the events' and metrics' names, cpu, pid and name");
	else
		settings.sort = options.sort;
	return success;
}

/// Return a function that chooses the tasks of -p, --comm and --cgroup; empty without
/// these options.
static std::function<bool(const task_share &)>
filter_of(const top_options &options)
{
	if (options.pids.empty() && options.comms.empty() &&
	    options.cgroups.empty())
		return {};

	auto names = std::make_shared<cgroup_names>();
	std::vector<std::string> cgroups;

	for (const std::string &name : options.cgroups)
		cgroups.push_back(names->path_of(name));

	auto contains = [](const auto &list, const auto &value) {
		return list.empty() ||
		       std::find(list.begin(), list.end(), value) != list.end();
	};

	return [=, pids = options.pids,
		comms = options.comms](const task_share &task) {
		return contains(pids, int(task.tgid)) &&
		       contains(comms, task.comm) &&
		       (cgroups.empty() ||
			std::any_of(cgroups.begin(), cgroups.end(),
				    [&](const std::string &cgroup) {
					    return is_within(
						    names->name(task.cgroup),
						    cgroup);
				    }));
	};
}

static int top(const top_options &options, const context &shared)
{
	auto machine = uncore::topology::read(shared.sysfs);
	attribution_options attributed;
	top_settings settings;

	if (int status = check_processes(options.pids))
		return status;
	if (!machine)
		return fail(machine.error());
	auto outcome = add_columns(options.events, options.metrics, *machine,
				   attributed.columns, settings);

	if (outcome)
		outcome = choose_weight(options, *machine, attributed);
	if (!outcome)
		return fail(outcome.error());
	if (int status = check_options(options, settings))
		return status;
	settings.by = top_by(std::find(by_names.begin(), by_names.end(),
				       options.by) -
			     by_names.begin());
	if (settings.by == top_by::tree)
		attributed.by = attribution_by::tree;
	settings.reverse = options.reverse;
	settings.per_socket = options.per_socket;
	settings.rows = options.rows;
	settings.wanted = filter_of(options);
	attributed.max_tasks = options.max_tasks;
	attributed.max_followed = tree_tasks * options.max_tasks;
	attributed.each_cpu = options.each_cpu;
	attributed.bounded_loops = options.bounded_loops;
	attributed.resolution =
		std::chrono::microseconds(options.resolution_us);

	return run_top(options, settings, std::move(attributed), *machine);
}

void add_top(parser &app, context &shared)
{
	auto options = std::make_shared<top_options>();
	parser command = add_command(
		app, shared, "top",
		"Show which tasks or cgroups cause the traffic",
		[options, &shared] { return top(*options, shared); });

	add_examples(command, "uncore top",
		     "uncore top -e qpi --by cgroup -I 2000");
	options->weight = "equal";
	command.add_option("-e,--event", options->events,
			   fmt::format("Events, or {}", describe_presets()))
		.one_value()
		.type_name("EVENT,...");
	command.add_option("-M,--metrics", options->metrics,
			   "Metrics, or a group of them, of each task's share")
		.one_value()
		.type_name("METRIC,...");
	command.add_option("--by", options->by,
			   "Sum by task, process, cgroup, or tree: a process with all that it has started since")
		.one_of({by_names.begin(), by_names.end()});
	command.add_option("--sort", options->sort,
			   "An event's or metric's name, cpu, pid or name");
	command.add_flag("--reverse", options->reverse, "Least active first");
	command.add_flag("--per-socket", options->per_socket,
			 "A column for each socket");
	command.add_option(
		"--weight", options->weight,
		"An event of the core: a task's share is as its CPU's rate of it (default equal shares)");
	command.add_flag("--once", options->once, "One table, then end");
	command.add_option("-p,--pid", options->pids,
			   "Processes to tell apart; the rest is other")
		.delimiter(',')
		.one_value()
		.range(1, 1 << 22)
		.type_name("PID,...");
	command.add_option("--comm", options->comms,
			   "Names of tasks to tell apart; the rest is other")
		.one_value()
		.type_name("NAME");
	command.add_option(
		       "--cgroup", options->cgroups,
		       "Cgroups to tell apart, with those in them; the rest is other")
		.one_value()
		.type_name("PATH");
	command.add_option("--rows", options->rows, "Tasks to show (0: all)");
	command.add_option("--max-tasks", options->max_tasks,
			   "Tasks counted separately in an interval (8192)")
		.range(1, 1 << 20);
	command.add_option(
		       "--resolution", options->resolution_us,
		       "Read a socket's counters at most every N microseconds (100); 0: at each context switch")
		.range(0, 1000000);
	command.add_flag(
		"--each-cpu", options->each_cpu,
		"Open a copy of each event for each CPU even where the kernel can read a socket's event from all of them");
	command.add_flag("--bounded-loops", options->bounded_loops,
			 "Do without the kernel's bpf_loop()")
		.hidden();
	add_run_options(command, options->run);
	add_format(command, options->form);
	add_output(command, options->output);
	options->run.interval_ms = 1000;
}

} // namespace cli
