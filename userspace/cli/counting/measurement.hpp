// SPDX-License-Identifier: GPL-2.0-or-later
// The shared part of stat and metric, from the command line to the numbers: a
// set of counters, the times of counting, and the output.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/counter_set.hpp>

#include "arguments/subcommand.hpp"
#include "counting/metric_files.hpp"
#include "counting/perf_rows.hpp"
#include "counting/run.hpp"
#include "output/sink.hpp"
#include "regions/regions.hpp"

namespace cli {

struct count_options {
	run_options run;
	format form = format::human;
	std::string output;	///< a file's path, empty for standard output
	std::string save;	///< --save: a file's path, empty for none
	std::string separator;	///< -x: perf's rows with this; empty for none
	bool perf_json = false; ///< -j: perf's rows as JSON
	perf_place place = perf_place::none; ///< of perf's rows
	bool summary = false; ///< with -I: perf's rows of the total, too
	std::string cpus;     ///< -C: count on the sockets of these CPUs only
	unsigned timeout_ms = 0; ///< end after this time; 0: no limit
	bool regions = false; ///< --regions: count regions of the command, too
	/// Append to the output file; print metrics without their events.
	bool append = false, metric_only = false;

	/// Return whether to print perf stat's rows, on standard error.
	bool as_perf() const { return perf_json || !separator.empty(); }
};

/// Add the options of time and output.
void add_count_options(parser &command, count_options &options);
/// Add --per-socket and --per-box.
void add_scope(parser &command, uncore::scope &selected_scope);

/// A metric that cannot be counted on this machine, and the reason.
struct missing_metric {
	std::string name, reason;
};

/// A measurement: open(), add events and metrics, then run().
class measurement {
public:
	/// Read the machine's topology, and complete the options.
	/// Errors: of topology::read(); errc::invalid and errc::not_found for
	/// a wrong -C.
	static uncore::result<std::unique_ptr<measurement>>
	open(const context &shared, count_options &options);

	/// Errors: of parse_events() and counter_set::add_events().
	uncore::result<void> add_events(std::string_view list);
	/// Define and add metrics of the command line, "NAME = EXPRESSION".
	/// Call before add_metrics(). Errors: of metric_files::parse(),
	/// own_metrics::metric() and counter_set::add_metric().
	uncore::result<void>
	add_expressions(const std::vector<std::string> &texts);
	/// Add metrics by name, the user's own as well. If one of the user's is
	/// wrong, add it to missing(); run() then fails at its end.
	/// Errors: of own_metrics::find().
	uncore::result<void> add_metrics(std::string_view names);
	/// Add a metric.  If the machine cannot count it, add it to missing().
	void add_metric(const uncore::metric_info &info);

	/// Open the output.
	uncore::result<void> open_output();
	/// Open the output and the counters, count as the options say, and call
	/// @p print after each interval and at the end (@p last), until @p
	/// print fails.
	/// @return the exit status.
	int run(const std::function<bool(bool last)> &print);

	const count_options &options() const { return options_; }
	const std::vector<missing_metric> &missing() const { return missing_; }
	const uncore::counter_set &counters() const { return counters_; }
	/// Return the NUMA node of a CPU; 0 if the kernel has no nodes.
	int node_of(int cpu) const;
	sink &output() { return output_; }
	/// Regions of the command, after the run; nullptr without --regions.
	cli::regions *regions() const { return regions_.get(); }
	/// The sockets of -C; empty: all.
	const std::vector<int> &sockets() const { return sockets_; }

private:
	measurement(uncore::topology &&machine, const count_options &options,
		    const std::filesystem::path &sysfs)
		: options_(options), sysfs_(sysfs),
		  counters_(std::move(machine))
	{
	}
	uncore::result<void> choose_sockets();
	const uncore::own_metrics &own_metrics();
	uncore::result<void> open_counters();
	uncore::result<void> open_regions();
	std::string split_advice(unsigned most) const;
	uncore::result<void> sample();
	uncore::result<void> read();
	void report_news();
	uncore::result<void> after_reading(uncore::result<void> outcome);
	void report_divisions() const;

	const count_options &options_;
	const std::filesystem::path sysfs_;
	/// Metrics of files and of the command line, to which counters_ refers;
	/// none before the first is asked for.
	std::optional<metric_files> files_;
	uncore::counter_set counters_;
	std::vector<int> sockets_; ///< to count on; empty: all
	std::vector<const uncore::metric_info *> metrics_;
	std::vector<missing_metric> missing_;
	/// A requested metric of the user, or a region of the command, is wrong.
	bool is_wrong_ = false;
	std::unique_ptr<cli::regions> regions_;
	sink output_;
};

} // namespace cli
