// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the metrics of rules in sets, one set after the other, so that few events share
// the counters at a time.  A set has metrics of one group (events/groups.json).  Each set
// has a slice of the time in each round; slices begin short, so that a short command is
// seen by each set, and grow.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <uncore/counter_set.hpp>

#include "diagnosis/rules.hpp"

namespace cli {

class metric_sets {
public:
	using nanoseconds = std::chrono::nanoseconds;

	explicit metric_sets(const uncore::topology &machine)
		: machine_(machine)
	{
	}
	/// Add the metrics of rules.  Remove rules whose metrics the machine
	/// cannot count.
	void add(rule_set &rules);
	/// Open all counters, stopped.  Remove the sets that cannot be opened, and the
	/// rules that need their metrics.  Errors: of counter_set::open() if no set can be
	/// opened.
	uncore::result<void> open(rule_set &rules);
	/// Begin the first slice.  @p duration: time of the run, 0 for unknown.
	uncore::result<void> enable(double duration);
	/// Read the counters, or begin the next set's slice.
	/// @return time until the next call.
	uncore::result<nanoseconds> step();
	/// End the last slice.
	uncore::result<void> finish();

	/// Lines about boxes that are not counted, each once.
	std::vector<std::string> news();
	size_t size() const { return sets_.size(); }
	/// Check that each set has counted for a whole slice.
	bool is_complete() const;
	/// Seconds of a run in which each set has some slices, judged by the slices so far.
	double needed_seconds() const;
	/// Seconds of counting.
	double seconds() const;
	/// Number of slices of each set, the least.
	unsigned rounds() const;
	/// Groups of metrics that were counted, in order.
	std::vector<std::string> groups() const;
	/// Values of the whole time.  A value's error has the larger one of two
	/// errors: of multiplexing, and of the differences between slices.
	readings read() const;

private:
	struct slice {
		double value, seconds;
	};
	struct metric_set {
		uncore::counter_set counters;
		std::string group; ///< of events/groups.json
		std::vector<const uncore::metric_info *> metrics;
		double seconds = 0; ///< length of all slices
		unsigned slices = 0;
		/// Slices right after a slice of the same set.
		unsigned repeats = 0;
		bool has_whole_slice = false;
		/// Values of each slice, by metric and socket.
		std::map<std::pair<std::string, int>, std::vector<slice>> past =
			{};
	};

	void add_metric(const uncore::metric_info &info, rule_set &rules,
			std::string_view group);
	uncore::result<void> begin_slice();
	uncore::result<void> end_slice();
	static double error_of(const std::vector<slice> &past, double mean);
	static bool lacks_counts(const metric_set &set);

	const uncore::topology machine_;
	std::vector<metric_set> sets_;
	std::set<std::string> news_; ///< lines that news() has returned
	size_t current_ = 0;
	nanoseconds first_slice_{std::chrono::milliseconds(50)};
	nanoseconds slice_{0};
	std::chrono::steady_clock::time_point slice_began_, slice_ends_;
};

} // namespace cli
