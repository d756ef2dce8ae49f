// SPDX-License-Identifier: GPL-2.0-or-later
// Reports of stat and metric: numbers of events and metrics in scopes, as CSV,
// as JSON, an object a report, as perf's rows, or as count_printer's text for
// people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <uncore/counter_set.hpp>

#include "counting/measurement.hpp"
#include "output/table.hpp"

namespace cli {

/// Return "±1.23 %" of the value; "±1.23 ns" if the value is 0; "± unknown".
std::string error_text(double value, double error, std::string_view unit);

/// An event's count or a metric's value in a scope.
struct report_line {
	uncore::counted_value counted;
	uncore::scope scope;
	double value, error; ///< of the mean of several runs
	/// Nanoseconds of counting, and part of the time; means of several
	/// runs.
	double running, share;

	std::string_view box() const
	{
		return counted.pmu() ? std::string_view(counted.pmu()->name)
				     : "";
	}
	std::string error_text() const
	{
		return cli::error_text(value, error, counted.unit());
	}
};

/// Means of several runs, and the standard errors of the means.
class run_means {
public:
	explicit run_means(unsigned requested) : requested_(requested) {}
	/// Add the numbers of a run that ended after @p seconds.
	void add(const std::vector<report_line> &lines, double seconds);
	/// Ended runs, and requested runs.
	unsigned runs() const { return runs_; }
	unsigned requested() const { return requested_; }
	/// Length of the last run that ended.
	double seconds() const { return seconds_; }
	void put_into(std::vector<report_line> &lines) const;

private:
	struct number {
		double mean = 0, squares = 0;
		double running = 0, share = 0;
	};

	unsigned requested_, runs_ = 0;
	double seconds_ = 0;
	std::vector<number> numbers_;
};

class report {
public:
	/// @param scopes scopes to report, in this order; events have the
	/// first.
	/// @param set set of uncore metric, or empty.
	/// @param means means of several runs: print() prints nothing, see
	/// add_run().
	report(measurement &counts, std::vector<uncore::scope> scopes,
	       std::string_view set = {}, run_means *means = nullptr)
		: counts_(counts), options_(counts.options()),
		  scopes_(std::move(scopes)), means_(means), set_(set),
		  separator_(options_.separator.empty() ? ","
							: options_.separator)
	{
	}
	virtual ~report() = default;

	/// @return false when the output cannot be written.
	bool print(bool last);
	/// Return whether print() was called for the last time.
	bool ended() const { return ended_; }
	/// Add the numbers of this run to the means.
	void add_run();
	/// Print the means of the runs that ended.
	/// @return false when the output cannot be written.
	bool print_means();

protected:
	/// Put lines for people, in the order of events, then metrics, by
	/// scope.
	virtual void show(uncore::period report_period,
			  const std::vector<report_line> &lines) = 0;

	template <class... Args>
	void put(fmt::format_string<Args...> text, Args &&...args)
	{
		put_arguments(text, fmt::make_format_args(args...));
	}
	void put(const table &rows);
	/// put() for all types, so that fmt is compiled into one file.
	void put_arguments(fmt::string_view text, fmt::format_args arguments);
	/// Return whether -I prints intervals before the total.
	bool has_intervals() const { return options_.run.interval_ms; }
	/// Seconds of a report, and seconds since the start; of several runs,
	/// the seconds of the last run.
	double seconds(uncore::period report_period) const;
	double now() const { return seconds(uncore::period::total); }
	std::FILE *out() const { return counts_.output().file(); }

	measurement &counts_;
	const count_options &options_;
	const std::vector<uncore::scope> scopes_;
	run_means *const means_;

private:
	void gather(uncore::period report_period);
	void put(uncore::period report_period);
	void put_perf(uncore::period report_period);
	void put_perf_start();
	perf_row perf_row_of(const report_line &line) const;
	bool write();
	void put_csv(uncore::period report_period);
	void put_csv(const report_line &line, bool total);
	void put_json(uncore::period report_period);
	void put_cell(std::string_view cell);

	const std::string_view set_;
	const std::string separator_; ///< of CSV
	std::vector<report_line> lines_;
	fmt::memory_buffer buffer_;
	bool titled_ = false, ended_ = false;
};

} // namespace cli
