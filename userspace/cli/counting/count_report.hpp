// SPDX-License-Identifier: GPL-2.0-or-later
// What stat and metric print: numbers of events and metrics at places, as text
// for people in a layout of the subcommand's, as CSV, or as JSON, an object a
// report.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <uncore/metric.hpp>
#include <uncore/session.hpp>

#include "arguments/subcommand.hpp"
#include "counting/measurement.hpp"
#include "output/sink.hpp"
#include "output/table.hpp"

namespace cli {

/// An event's count or a metric's value at one place.
struct report_line {
	std::string_view name, box, unit;
	uncore::scope where;
	int package;			   ///< -1 for the machine
	const uncore::metric_info *metric; ///< nullptr for an event
	double value, error, share;
	std::chrono::nanoseconds time; ///< a metric's, see metric_value
	uncore::count counted;	       ///< an event's
	/// Why there is no value, or which boxes it is not of; or empty.
	std::string reason;
};

/// "±1.23 %", of the value; "± unknown".
std::string error_text(const report_line &one);

/// Numbers of several runs: their means, and the standard errors of these.
class run_means {
public:
	explicit run_means(unsigned runs) : runs_(runs) {}
	/// Adds the numbers of a run.
	void add(const std::vector<report_line> &lines);
	bool complete() const { return done_ == runs_; }
	unsigned runs() const { return runs_; }
	void put_into(std::vector<report_line> &lines) const;

private:
	struct number {
		double mean = 0, squares = 0;
	};

	unsigned runs_, done_ = 0;
	std::vector<number> numbers_;
};

struct report_options {
	format form = format::human;
	bool intervals = false; ///< -I: totals are told apart
	/// Scopes to report, in this order; events have the first.
	std::vector<uncore::scope> scopes;
	std::string_view set;	     ///< metric's, or empty
	std::string separator = ","; ///< of CSV
	bool metric_only = false;    ///< without events
	run_means *means = nullptr;  ///< of several runs, which print once
};

class report {
public:
	/// Made before counting starts: what an interval needs is prepared, so
	/// that the loop only reads, formats into one buffer and writes it.
	report(measurement &of, const report_options &options, sink &to);
	virtual ~report() = default;

	/// @return false when the output cannot be written.
	bool print(bool last);

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
	/// Seconds that a report is of, and since the start.
	double seconds(uncore::period when) const;
	double now() const { return seconds(uncore::period::total); }

	measurement &of_;
	const report_options options_;
	sink &to_;
	std::vector<event_row> rows_;

private:
	void gather(uncore::period when);
	void put_csv(uncore::period when);
	void put_csv(const report_line &one, bool total);
	void put_json(uncore::period when);
	void put_cell(std::string_view cell);

	std::vector<report_line> lines_;
	fmt::memory_buffer buffer_;
	bool titled_ = false;
};

} // namespace cli
