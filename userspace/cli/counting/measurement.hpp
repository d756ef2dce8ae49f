// SPDX-License-Identifier: GPL-2.0-or-later
// What stat and metric share: from events and metrics to an open session, and
// to rows of numbers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <uncore/event.hpp>
#include <uncore/metric.hpp>
#include <uncore/session.hpp>

#include "counting/run.hpp"

namespace cli {

/// The metrics of a list such as "mem_bw_reads,qpi": names, or groups of them.
/// Errors: errc::not_found (suggests the nearest names).
uncore::result<std::vector<const uncore::metric_info *>>
find_metrics(const uncore::topology &machine, const std::string &names);

/// A metric that this machine cannot tell, and why.
struct missing_metric {
	const uncore::metric_info *info;
	std::string reason;
};

/// One event at one place: the counters that make up a number.
struct event_row {
	std::string name;
	const uncore::event *kind;	       ///< for scale and unit
	int package = -1;		       ///< -1 for all of them
	std::string box;		       ///< empty for the sum of all
	std::vector<uncore::counter_at> parts; ///< none for duration_time
	/// Boxes that belong to it and never answered.
	std::vector<const uncore::box_health *> absent;
	uncore::sum_set sum; ///< the session's of these

	/// What was counted; value and error are scaled to the event's unit.
	uncore::count read(const uncore::session &counts,
			   uncore::period when) const;
	/// What is wrong with its boxes; empty where nothing is.
	std::string reason(const uncore::session &counts,
			   uncore::period when) const;
};

/// What is measured.
class measurement {
public:
	explicit measurement(uncore::topology machine)
		: machine_(std::move(machine)), planner_(machine_)
	{
	}
	measurement(const measurement &) = delete;

	/// Errors: of parse_events() and planner::add().
	uncore::result<void> add_events(std::string_view text);
	/// What the machine lacks is noted in missing().
	void add_metric(const uncore::metric_info &info);
	/// @param packages to count on; empty: all.
	/// Errors: of session::open().
	uncore::result<void> open(const std::vector<int> &packages = {});

	/// Has the session add up what numbers of that scope need.  To be
	/// called once, before run().
	std::vector<event_row> rows(uncore::scope where);
	/// The same for metrics.
	void watch_metrics(uncore::scope where);
	const std::vector<uncore::metric> &metrics() const { return metrics_; }
	const std::vector<missing_metric> &missing() const { return missing_; }
	const uncore::topology &machine() const { return machine_; }
	uncore::session &counts() { return *session_; }
	const uncore::session &counts() const { return *session_; }
	bool empty() const { return groups_.empty() && metrics_.empty(); }

	/// Counts as the options say, and calls @p print after each interval
	/// and at the end (@p last), until it fails.
	/// @return the program's exit status.
	int run(const run_options &options,
		const std::function<bool(bool last)> &print);

private:
	std::vector<event_row>
	rows_of(const uncore::event_term &term,
		const std::vector<uncore::counter_id> &ids,
		uncore::scope where) const;
	void add_row_parts(std::vector<event_row> &rows,
			   const uncore::event_term &term, size_t event,
			   uncore::counter_id id, uncore::scope where) const;
	event_row &row_at(std::vector<event_row> &rows,
			  const uncore::event_term &term, size_t event,
			  int package, uncore::scope where) const;
	void report_news();
	std::string split_advice() const;

	uncore::topology machine_;
	uncore::planner planner_;
	std::vector<uncore::event_group> groups_;
	std::vector<uncore::planner::places> places_;
	std::vector<uncore::metric> metrics_;
	std::vector<missing_metric> missing_;
	std::optional<uncore::session> session_;
};

/// Adds --per-socket and --per-box.
void add_scope(parser &command, uncore::scope &where);

} // namespace cli
