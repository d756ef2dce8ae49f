// SPDX-License-Identifier: GPL-2.0-or-later
// uncore stat: counts events and metrics.
#include <memory>

#include "commands/commands.hpp"
#include "counting/count_printer.hpp"
#include "output/message.hpp"

namespace cli {

namespace {

using uncore::scope;

struct stat_options {
	std::vector<std::string> events, metrics;
	count_options count;
	scope where = scope::machine;
	std::string pid, tid, control;
	bool all_cpus = false, no_aggr = false, per_node = false;
	bool verbose = false, big_num = false;
	unsigned repeat = 1;
};

uncore::result<void> add(measurement &to, const stat_options &options)
{
	for (const std::string &list : options.events)
		if (auto added = to.add_events(list); !added)
			return added;
	for (const std::string &names : options.metrics)
		if (auto added = to.add_metrics(names); !added)
			return added;
	return {};
}

int count_once(const context &shared, stat_options &options, run_means *means)
{
	return count(
		shared, options.count, {.where = options.where},
		[&](measurement &counts) { return add(counts, options); },
		means);
}

/// Count several times, until a run cannot begin.
int count_repeatedly(const context &shared, stat_options &options)
{
	run_means means(options.repeat);
	int status = success;

	for (unsigned run = 0; run < options.repeat && means.runs() == run;
	     run++)
		status = count_once(shared, options, &means);
	return status;
}

/// perf has a row for each CPU that reads boxes with -A, and for each box as
/// well with --no-merge.
void choose_place(stat_options &options)
{
	if (options.per_node)
		options.where = scope::package;
	if (options.no_aggr)
		options.where =
			options.count.as_perf() ? scope::package : scope::box;
	if (options.no_aggr || options.where == scope::box)
		options.count.place = perf_place::cpu;
	else if (options.per_node)
		options.count.place = perf_place::node;
	else if (options.where == scope::package)
		options.count.place = perf_place::socket;
}

/// @return the alternative to an option of perf that stat does not have;
/// nullptr where there is none on the command line.
const char *instead_of_perf(const stat_options &options)
{
	if (!options.pid.empty() || !options.tid.empty())
		return "a box counts for all tasks of its socket, so that stat has no counts of one process: 'uncore top --by process' divides a socket's traffic among processes";
	if (!options.control.empty())
		return "stat takes no commands while it counts (--control): -D begins to count later, and -I prints the counts of intervals";
	if (options.verbose)
		return "stat has no -v: --json has the raw count and the times of each event, and 'uncore list -v' the description";
	return nullptr;
}

int stat(const context &shared, stat_options &options)
{
	choose_place(options);
	if (options.count.perf_json + !options.count.separator.empty() +
		    (options.count.form != format::human) >
	    1)
		return fail_usage(
			"-x, -j, --csv and --json exclude each other");
	if (const char *alternative = instead_of_perf(options))
		return fail_usage(alternative);
	if (options.count.append && options.count.output.empty())
		return fail_usage("--append is for -o FILE");
	if (options.count.metric_only && options.metrics.empty())
		return fail_usage("--metric-only is for metrics (-M)");
	if (options.events.empty() && options.metrics.empty())
		return fail_usage(
			"nothing to count: give events (-e) or metrics (-M); uncore list shows them");

	if (options.repeat > 1 && options.count.run.interval_ms)
		return fail_usage(
			"-r and -I do not go together: a run has no intervals where its mean is printed");

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
		       "-e,--event", options->events,
		       "What to count, as perf writes events; more than once for more")
		.one_value()
		.type_name("EVENT,...");
	command.add_option("-M,--metrics", options->metrics,
			   "Metrics, or groups of them ('uncore list metrics')")
		.one_value()
		.type_name("METRIC,...");
	add_scope(command, options->where);
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
	command.add_option("--control", options->control, "Not possible: see -D")
		.hidden();
	command.add_flag("-v,--verbose", options->verbose, "See --json")
		.hidden();
	add_count_options(command, options->count);
	add_format(command, options->count.form, "--json");
}

} // namespace cli
