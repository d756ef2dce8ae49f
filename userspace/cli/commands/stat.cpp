// SPDX-License-Identifier: GPL-2.0-or-later
// uncore stat: counts events and metrics.
#include <climits>
#include <memory>

#include "attribution/share_stat.hpp"
#include "commands/commands.hpp"
#include "counting/count_printer.hpp"
#include "output/message.hpp"

namespace cli {

namespace {

using uncore::scope;

/// Value of resolution_us without --resolution.
constexpr unsigned no_resolution = UINT_MAX;

struct stat_options {
	std::vector<std::string> events, expressions, metrics;
	std::vector<cgroup_option> cgroups;
	std::string each_cgroup;
	bool attribute = false;
	std::string by; ///< of --attribute; empty: tree
	unsigned resolution_us = no_resolution;
	size_t max_tasks = 0; ///< 0: the default
	count_options count;
	scope aggregation = scope::machine;
	std::string pid, tid, control;
	bool all_cpus = false, no_aggr = false, per_node = false;
	bool verbose = false, big_num = false;
	unsigned repeat = 1;

	/// Are counts divided among tasks?
	bool has_shares() const
	{
		return !cgroups.empty() || !each_cgroup.empty() || attribute;
	}
	bool has_metrics() const
	{
		return !metrics.empty() || !expressions.empty();
	}
};

uncore::result<void> add(measurement &counts, const stat_options &options)
{
	for (const std::string &list : options.events)
		if (auto added = counts.add_events(list); !added)
			return added;
	if (auto added = counts.add_expressions(options.expressions); !added)
		return added;
	for (const std::string &names : options.metrics)
		if (auto added = counts.add_metrics(names); !added)
			return added;
	return {};
}

int count_once(const context &shared, stat_options &options, run_means *means)
{
	return count(
		shared, options.count, {.scope = options.aggregation},
		[&](measurement &counts) { return add(counts, options); },
		means);
}

/// Count several times (-r).  A run that fails or is interrupted is not in the means;
/// then end.
int count_repeatedly(const context &shared, stat_options &options)
{
	run_means means(options.repeat);
	int status = success;

	for (unsigned run = 0; run < options.repeat && means.runs() == run;
	     run++)
		status = count_once(shared, options, &means);
	return status;
}

/// Choose the scope of the numbers, and what perf's rows have before a number.  With -A
/// perf prints a row for each CPU on which a PMU's events are open, one for each socket;
/// uncore's own output has a row for each box.
void choose_place(stat_options &options)
{
	if (options.per_node)
		options.aggregation = scope::package;
	if (options.no_aggr)
		options.aggregation =
			options.count.as_perf() ? scope::package : scope::box;
	if (options.no_aggr || options.aggregation == scope::box)
		options.count.place = perf_place::cpu;
	else if (options.per_node)
		options.count.place = perf_place::node;
	else if (options.aggregation == scope::package)
		options.count.place = perf_place::socket;
}

/// @return the alternative to an unsupported option of perf on the command
/// line; nullptr without such an option.
const char *perf_alternative(const stat_options &options)
{
	if (!options.pid.empty() || !options.tid.empty())
		return "a box counts for all tasks of its socket, so that stat has no counts of one process: 'uncore top --by process' divides a socket's traffic among processes";
	if (!options.control.empty())
		return "stat takes no commands while it counts (--control): -D begins to count later, and -I prints the counts of intervals";
	if (options.verbose)
		return "stat has no -v: --json has the raw count and the times of each event, and 'uncore list -v' the description";
	return nullptr;
}

/// @return the reason why counts of sets of tasks exclude an option of the command
/// line; nullptr without such an option.
const char *refuse_with_shares(const stat_options &options)
{
	if (!options.cgroups.empty() && !options.each_cgroup.empty())
		return "-G and --for-each-cgroup exclude each other";
	if (options.attribute &&
	    (!options.cgroups.empty() || !options.each_cgroup.empty()))
		return "--attribute and cgroups (-G, --for-each-cgroup) exclude each other";
	if (options.attribute && options.count.run.command.empty())
		return "--attribute needs a command: uncore stat --attribute -- COMMAND";
	if (options.has_metrics())
		return options.attribute
			       ? "stat has no metrics (-M) of a command: 'uncore top --once --by tree -M METRIC -- COMMAND' has them"
			       : "stat has no metrics (-M) of cgroups: 'uncore top --by cgroup -M METRIC' has them";
	if (options.aggregation == scope::box || options.no_aggr)
		return "tasks have no count of each box (--per-box, -A), as a socket's counts are divided among tasks: use --per-socket, or an event of one box";
	if (!options.count.save.empty())
		return "--save has no counts of tasks or cgroups: --json has them";
	if (options.repeat > 1)
		return "-r has no means of tasks' or cgroups' counts: call stat several times";
	return nullptr;
}

/// @return the reason why --regions excludes an option of the command line; nullptr
/// without such an option.
const char *refuse_with_regions(const stat_options &options)
{
	if (options.count.run.command.empty())
		return "--regions needs a command whose regions to count";
	if (options.has_shares())
		return "--regions has no shares of tasks and cgroups: call stat twice";
	if (options.count.run.interval_ms || options.count.run.delay_ms)
		return "--regions has no intervals (-I) and no delay (-D): a region begins and ends where the command says";
	if (options.repeat > 1)
		return "-r has no means of regions: call stat several times";
	if (options.count.as_perf())
		return "perf's rows (-x, -j) have no regions: --csv and --json have them";
	return nullptr;
}

/// @return an option without effect, and the options that it is for; nullptr without
/// such an option.
const char *refuse_without_shares(const stat_options &options)
{
	if (options.resolution_us != no_resolution && !options.has_shares())
		return "--resolution is for --attribute, --for-each-cgroup and -G";
	if (!options.by.empty() && !options.attribute)
		return "--by is for --attribute";
	if (options.max_tasks &&
	    (!options.attribute || options.by == "cgroup"))
		return "--max-tasks is for --attribute --by tree";
	return nullptr;
}

/// Return the name of a command without its folder.
std::string name_of(const std::vector<std::string> &command)
{
	return command.empty()
		       ? ""
		       : command.front().substr(
				 command.front().find_last_of('/') + 1);
}

/// Count events of --attribute, --for-each-cgroup or -G.
int stat_shares(const context &shared, stat_options &options)
{
	share_stat_options shares{
		{options.events, options.cgroups, options.each_cgroup,
		 options.attribute, options.by == "cgroup",
		 name_of(options.count.run.command)},
		options.aggregation};

	if (options.resolution_us != no_resolution)
		shares.resolution_us = options.resolution_us;
	if (options.max_tasks)
		shares.max_tasks = options.max_tasks;
	return count_shares(shared, options.count, shares);
}

int stat(const context &shared, stat_options &options)
{
	choose_place(options);
	if (options.count.perf_json + !options.count.separator.empty() +
		    (options.count.form != format::human) >
	    1)
		return fail_usage(
			"-x, -j, --csv and --json exclude each other");
	if (const char *alternative = perf_alternative(options))
		return fail_usage(alternative);
	if (const char *reason = refuse_with_shares(options);
	    reason && options.has_shares())
		return fail_usage(reason);
	if (const char *reason = refuse_without_shares(options))
		return fail_usage(reason);
	if (const char *reason = refuse_with_regions(options);
	    reason && options.count.regions)
		return fail_usage(reason);
	if (options.count.append && options.count.output.empty())
		return fail_usage("--append is for -o FILE");
	if (options.count.metric_only && !options.has_metrics())
		return fail_usage("--metric-only is for metrics (-M)");
	if (options.events.empty() && !options.has_metrics() &&
	    !options.attribute)
		return fail_usage(
			"nothing to count: give events (-e) or metrics (-M); uncore list shows them");

	if (options.repeat > 1 && options.count.run.interval_ms)
		return fail_usage(
			"-r and -I do not go together: a run has no intervals where its mean is printed");

	if (options.has_shares())
		return stat_shares(shared, options);
	return options.repeat > 1 ? count_repeatedly(shared, options)
				  : count_once(shared, options, nullptr);
}

} // namespace

void add_stat(parser &app, context &shared)
{
	auto options = std::make_shared<stat_options>();
	parser command = add_command(
		app, shared, "stat", "Count events and metrics",
		[options, &shared] { return stat(shared, *options); });

	add_examples(
		command,
		"uncore stat -e imc/cas_count.rd/,imc/cas_count.wr/ make -j",
		"uncore stat -M mem_bw_total_rate -I 1000 --per-socket");
	command.add_option(
		       "-e,--event",
		       [options](const std::string &list) {
			       options->events.push_back(list);
		       },
		       "What to count, as perf writes events; more than once for more")
		.type_name("EVENT,...");
	command.add_option("-M,--metrics", options->metrics,
			   "Metrics, or groups of them ('uncore list metrics')")
		.one_value()
		.type_name("METRIC,...");
	command.add_option(
		       "--expr", options->expressions,
		       "A metric of your own: 'read_bw = imc/cas_count.rd/ * 64 / duration_time'; more than once for more")
		.one_value()
		.type_name("NAME=EXPRESSION");
	add_scope(command, options->aggregation);
	command.add_flag(
		"-A,--no-aggr", options->no_aggr,
		"The same as --per-box; with -x and -j as perf: a row for each CPU that reads boxes");
	command.add_flag("--per-node", options->per_node,
			 "The same as --per-socket: boxes belong to sockets");
	command.add_option("-C,--cpu", options->count.cpus,
			   "Count on the sockets of these CPUs only")
		.type_name("CPUS");
	command.add_option(
		       "-r,--repeat", options->repeat,
		       "Count N times, and print the means and their standard errors")
		.range(1, 1000000)
		.type_name("N");
	command.add_option(
		       "--save", options->count.save,
		       "Write the numbers of each socket and of the machine to a file, for uncore diff")
		.not_empty()
		.type_name("FILE");
	command.add_flag(
		"--attribute", options->attribute,
		"Divide each event among the command with all its descendants, other tasks, and idle time");
	command.add_option(
		       "--by", options->by,
		       "With --attribute: the command's tasks are its process tree (default), or all tasks of its cgroup")
		.one_of({"tree", "cgroup"});
	command.add_option(
		       "--max-tasks", options->max_tasks,
		       "With --attribute: tasks of the command that may exist at once (65536)")
		.range(1, 1 << 22);
	command.add_option(
		       "--for-each-cgroup", options->each_cgroup,
		       "Count each event in each cgroup and the cgroups in it, as uncore top divides counts")
		.not_empty()
		.type_name("CGROUP,...");
	command.add_option(
		       "-G,--cgroup",
		       [options](const std::string &names) {
			       options->cgroups.push_back(
				       {options->events.size(), names});
		       },
		       "Count the first event in the first cgroup and so on; a single cgroup is for all events before it")
		.type_name("CGROUP,...");
	command.add_flag(
		"--regions", options->count.regions,
		"Count the regions of the command as well, between its calls of uncore_region_begin() and uncore_region_end()");
	command.add_option(
		       "--resolution", options->resolution_us,
		       "With --attribute and cgroups: read a socket's counters at most every N microseconds (100); 0: at each context switch")
		.range(0, 1000000)
		.type_name("MICROSECONDS");
	command.add_option("-D,--delay", options->count.run.delay_ms,
			   "Begin to count N milliseconds after the command")
		.range(1, 3600000)
		.type_name("MILLISECONDS");
	command.add_flag("-B,--big-num", options->big_num,
			 "No effect: digits are always in groups of three");
	command.add_flag("-a,--all-cpus", options->all_cpus,
			 "No effect: boxes count for all CPUs");
	command.add_flag("--metric-only", options->count.metric_only,
			 "Metrics without events");
	command.add_option(
		       "-x,--field-separator", options->count.separator,
		       "perf stat's rows on standard error, with this between the columns")
		.not_empty()
		.type_name("SEPARATOR");
	command.add_flag("-j,--json-output", options->count.perf_json,
			 "perf stat's JSON on standard error");
	command.add_flag(
		"--summary", options->count.summary,
		"With -I and -x or -j: the total as well; other output has it always");
	command.add_option("--timeout", options->count.timeout_ms,
			   "Count for N milliseconds, perf's -d")
		.range(1, 1000000000)
		.type_name("MILLISECONDS");
	command.add_flag("--append", options->count.append,
			 "Append to the file of -o");
	command.add_option("-p,--pid", options->pid, "Not possible: see top")
		.hidden();
	command.add_option("-t,--tid", options->tid, "Not possible: see top")
		.hidden();
	command.add_option("--control", options->control,
			   "Not possible: see -D")
		.hidden();
	command.add_flag("-v,--verbose", options->verbose, "See --json")
		.hidden();
	add_count_options(command, options->count);
	add_format(command, options->count.form, "--json");
}

} // namespace cli
