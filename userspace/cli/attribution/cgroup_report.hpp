// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the counts of uncore stat with cgroups: as text for people, CSV, JSON, or the
// rows of perf stat (-x and -j).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <uncore/counter_set.hpp>
#include <uncore/topology.hpp>

#include "attribution/cgroup_counts.hpp"
#include "attribution/cgroup_plan.hpp"
#include "counting/measurement.hpp"

namespace cli {

class cgroup_report {
public:
	/// @param per_socket print a number for each socket, not the sum.
	/// The arguments must outlive the object.
	cgroup_report(measurement &counting, const cgroup_plan &plan,
		      const cgroup_counts &counts, bool per_socket);

	/// With -I, print the interval.  If @p last, print the total as well.
	/// @return false when the output cannot be written.
	bool print(bool last);

private:
	struct row {
		cgroup_event event;
		std::optional<size_t> package; ///< index; nullopt: all
	};
	/// Names and numbers of a row.
	struct line {
		std::string_view name, cgroup;
		std::string_view unit;
		double scale;
		const uncore::package *socket; ///< nullptr: all
		cgroup_counts::number number;

		double value() const { return number.raw * scale; }
	};

	void add_rows(bool per_socket);
	std::vector<line> lines(uncore::period when) const;
	bool has_intervals() const { return options_.run.interval_ms; }
	bool is_due(uncore::period when, bool last) const;
	std::string text(uncore::period when);
	std::string human_text(uncore::period when);
	std::string human_titles(uncore::period when,
				 const std::vector<line> &shown);
	std::string csv_text(uncore::period when);
	std::string json_text(uncore::period when) const;
	std::string perf_text(uncore::period when);

	measurement &counting_;
	const count_options &options_;
	const cgroup_plan &plan_;
	const cgroup_counts &counts_;
	std::vector<row> rows_;
	/// Columns of a terminal; at least the widths of the titles.
	size_t name_width_ = 5, cgroup_width_ = 6;
	bool titled_ = false; ///< the titles have been printed
};

} // namespace cli
