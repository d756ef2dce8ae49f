// SPDX-License-Identifier: GPL-2.0-or-later
// What stat and metric print: numbers of events and metrics at places, as CSV,
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

/// "±1.23 %", of the value; "±1.23 ns" where the value is 0; "± unknown".
std::string error_text(double value, double error, std::string_view unit);

/// An event's count or a metric's value at one place.
struct report_line {
	uncore::counted_value counted;
	uncore::scope where;
	double value, error; ///< of several runs: the mean's
	/// Nanoseconds, and part of the time; of several runs: their means.
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

/// Numbers of several runs: their means, and the standard errors of these.
class run_means {
public:
	explicit run_means(unsigned requested) : requested_(requested) {}
	/// Add the numbers of a run that ended after @p seconds.
	void add(const std::vector<report_line> &lines, double seconds);
	/// Runs that ended, and that the user wants.
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
	/// @param scopes to report, in this order; events have the first.
	/// @param set metric's, or empty.
	/// @param means of several runs: print() prints nothing, see add_run().
	report(measurement &of, std::vector<uncore::scope> scopes,
	       std::string_view set = {}, run_means *means = nullptr)
		: of_(of), options_(of.options()), scopes_(std::move(scopes)),
		  means_(means), set_(set),
		  separator_(options_.separator.empty() ? ","
							: options_.separator)
	{
	}
	virtual ~report() = default;

	/// @return false when the output cannot be written.
	bool print(bool last);
	/// Has print() been called for the last time?
	bool ended() const { return ended_; }
	/// Add the numbers of this run to the means.
	void add_run();
	/// Print the means of the runs that ended.
	/// @return false when the output cannot be written.
	bool print_means();

protected:
	/// For people: puts lines, in the order of events, then metrics, by
	/// scope.
	virtual void show(uncore::period when,
			  const std::vector<report_line> &lines) = 0;

	template <class... Args>
	void put(fmt::format_string<Args...> text, Args &&...args)
	{
		put_arguments(text, fmt::make_format_args(args...));
	}
	void put(const table &rows);
	/// put() for all types, so that fmt is compiled into one file.
	void put_arguments(fmt::string_view text, fmt::format_args arguments);
	/// -I, with a total at the end.
	bool has_intervals() const { return options_.run.interval_ms; }
	/// Seconds that a report is of, and since the start; of several runs:
	/// those of the last.
	double seconds(uncore::period when) const;
	double now() const { return seconds(uncore::period::total); }
	std::FILE *out() const { return of_.output().file(); }

	measurement &of_;
	const count_options &options_;
	const std::vector<uncore::scope> scopes_;
	run_means *const means_;

private:
	void gather(uncore::period when);
	void put(uncore::period when);
	void put_perf(uncore::period when);
	void put_perf_start();
	perf_row perf_row_of(const report_line &line) const;
	bool write();
	void put_csv(uncore::period when);
	void put_csv(const report_line &one, bool total);
	void put_json(uncore::period when);
	void put_cell(std::string_view cell);

	const std::string_view set_;
	const std::string separator_; ///< of CSV
	std::vector<report_line> lines_;
	fmt::memory_buffer buffer_;
	bool titled_ = false, ended_ = false;
};

} // namespace cli
