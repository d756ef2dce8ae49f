// SPDX-License-Identifier: GPL-2.0-or-later
// Reports of stat and metric.  A report has the numbers of events and metrics, of an
// interval or of the whole run.  A number has a scope: a box, a socket, or the machine.
// A report is CSV, a JSON object, the rows of perf stat, or text for people, which
// count_printer formats.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json_fwd.hpp>

#include <uncore/counter_set.hpp>

#include "counting/measurement.hpp"
#include "output/table.hpp"

namespace cli {

/// Format an error: "±1.23 %" of the value; "±1.23 ns" if the value is 0; "± unknown"
/// if the error is not a number.
std::string error_text(double value, double error, std::string_view unit);

/// An event's count or a metric's value, as uncore::counted_value describes them.
struct counted_number {
	size_t index = 0; ///< order of the output
	std::string_view name = {}, unit = {};
	const uncore::metric_info *metric = nullptr;
	const uncore::event *event = nullptr; ///< first event
	const uncore::pmu_info *pmu = nullptr;
	int package = -1;
	uint64_t raw = 0;
	std::chrono::nanoseconds enabled{0}, running{0};
	double share = 1;
	std::string reason = {};
};

/// The tasks that a count is of.
struct counted_for {
	std::string_view name;	///< for programs; empty for all
	std::string_view title; ///< for people
	/// Part of the event's count; not a number for all tasks.
	double part = std::nan("");
};

/// An event's count or a metric's value in a scope.
struct report_line {
	counted_number counted;
	uncore::scope scope;
	/// The value and its standard error.  With several runs: the mean of
	/// their values, and the standard error of the mean, from the
	/// differences between runs.
	double value, error;
	/// The part of the standard error that the scaling of multiplexed
	/// events explains.
	double scaling_error;
	/// Time for which the event counted, in nanoseconds, and as a part of
	/// the time for which it was enabled.  With several runs: means.
	double running, share;
	counted_for tasks = {};

	std::string_view box() const
	{
		return counted.pmu ? std::string_view(counted.pmu->name) : "";
	}
	std::string error_text() const
	{
		return cli::error_text(value, error, counted.unit);
	}
};

/// Means of several runs, and the standard errors of the means.
class run_means {
public:
	explicit run_means(unsigned requested) : requested_(requested) {}
	/// Add the numbers of a run that ended after @p seconds.
	void add(const std::vector<report_line> &lines, double seconds);
	/// Means of the same runs, of the lines for the file of --save.
	run_means &saved()
	{
		if (!saved_)
			saved_ = std::make_unique<run_means>(requested_);
		return *saved_;
	}
	/// Ended runs, and requested runs.
	unsigned runs() const { return runs_; }
	unsigned requested() const { return requested_; }
	/// Length of the last run that ended.
	double seconds() const { return seconds_; }
	/// Replace the numbers of the last run in @p lines by the means.
	void put_into(std::vector<report_line> &lines) const;

private:
	struct number {
		/// Mean of the values, sum of their squared differences from
		/// the mean, and of the squares of their errors from scaling.
		double mean = 0, squares = 0, scaling = 0;
		double running = 0, share = 0;
	};

	unsigned requested_, runs_ = 0;
	double seconds_ = 0;
	std::vector<number> numbers_;
	std::unique_ptr<run_means> saved_;
};

/// The numbers of a report.
class number_source {
public:
	virtual ~number_source() = default;
	/// Get the numbers of a scope.
	virtual std::vector<report_line> lines(uncore::scope line_scope,
					       uncore::period when) const = 0;
	/// Length of an interval or of the run until now, in seconds.
	virtual double seconds(uncore::period when) const = 0;
	/// Return what tells apart the tasks of the lines, such as "cgroup";
	/// empty where lines are of all tasks.
	virtual std::string_view tasks_key() const { return {}; }
	/// Add members to a JSON document.
	virtual void add_to(nlohmann::ordered_json &document) const
	{
		(void)document;
	}
};

class report {
public:
	/// @param scopes scopes of metrics, in the order of the output; events
	/// have numbers in the first scope only.
	/// @param set name of the group of metrics, or empty.
	/// @param means nullptr, or the means of several runs.  Then print()
	/// prints nothing; call add_run() and print_means().
	/// @p counts and @p numbers must outlive the object.
	report(measurement &counts, const number_source &numbers,
	       std::vector<uncore::scope> scopes, std::string_view set = {},
	       run_means *means = nullptr)
		: counts_(counts), numbers_(numbers),
		  options_(counts.options()), scopes_(std::move(scopes)),
		  means_(means), set_(set),
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
	/// Write the numbers of the whole run, or the means, to the file of
	/// --save. Errors: errc::system.
	uncore::result<void> save();
	/// Print the means of the runs that ended.
	/// @return false when the output cannot be written.
	bool print_means();

protected:
	/// Print lines for people.  @p lines has first the events, then the
	/// metrics, each by scope.
	virtual void show(uncore::period report_period,
			  const std::vector<report_line> &lines) = 0;

	template <class... Args>
	void put(fmt::format_string<Args...> text, Args &&...args)
	{
		put_arguments(text, fmt::make_format_args(args...));
	}
	void put(const table &rows);
	/// put() for arguments of all types: the formatting code of fmt is then
	/// compiled in one file only.
	void put_arguments(fmt::string_view text, fmt::format_args arguments);
	/// Collect the lines of a region for put(), and make them the interval.
	void gather(const region &shown);
	/// Return the time of a region on a line's socket, in seconds.
	double seconds(const region &shown, const report_line &line) const;
	/// Return whether -I prints intervals before the total.
	bool has_intervals() const { return options_.run.interval_ms; }
	/// Length of an interval or of the run until now, in seconds; now() is the
	/// latter.  With several runs: length of the last run.
	double seconds(uncore::period report_period) const;
	double now() const { return seconds(uncore::period::total); }
	std::FILE *out() const { return counts_.output().file(); }

	measurement &counts_;
	const number_source &numbers_;
	const count_options &options_;
	const std::vector<uncore::scope> scopes_;
	run_means *const means_;
	/// Numbers that gather() collected.
	std::vector<report_line> lines_;

private:
	void gather(uncore::period report_period);
	void gather_saved();
	void put(uncore::period report_period);
	void put_perf(uncore::period report_period);
	void put_perf_start();
	perf_row perf_row_of(const report_line &line) const;
	bool write();
	void put_csv(uncore::period report_period);
	void put_csv(const report_line &line, const std::string &time);
	void put_csv(const region &shown);
	nlohmann::ordered_json as_document(uncore::period report_period) const;
	nlohmann::ordered_json as_document(const region &shown);
	void put_json(uncore::period report_period);
	void put_cell(std::string_view cell);

	const std::string_view set_;
	const std::string separator_; ///< of CSV
	fmt::memory_buffer buffer_;
	/// Titles have been printed; print() was called for the last time.
	bool titled_ = false, ended_ = false;
};

} // namespace cli
