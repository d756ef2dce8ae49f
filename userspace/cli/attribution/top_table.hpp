// SPDX-License-Identifier: GPL-2.0-or-later
// uncore top's table: the shares of an account, summed by task, process or
// cgroup, rounded so that they add up, sorted; and as text and JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "attribution/attribution.hpp"
#include "attribution/cgroup_names.hpp"
#include "expression.hpp"

namespace cli {

enum class top_by { task, process, cgroup };

/// How a column's counts are to be shown.
struct top_column {
	std::string name;
	double scale = 1;    ///< of a count
	std::string unit;    ///< of a scaled count; empty: plain counts
	bool hidden = false; ///< counted for metrics alone
};

/// A metric of the columns' counts.
struct top_metric {
	/// A name of the expression.
	struct operand {
		/// Without a value: duration_time.
		std::optional<size_t> column;
		/// How many counters its count is the sum of, in each package.
		std::vector<double> sources;
	};

	std::string name;
	uncore::expression expression;
	std::vector<operand> operands; ///< in the order of its terms
	double scale = 1;
	std::string unit;

	/// Of counts [column][package] in @p seconds [package], those of one
	/// package or of all (-1); not a number where it divides by 0.
	double value(const std::vector<std::vector<uint64_t>> &counts,
		     const std::vector<double> &seconds,
		     int package = -1) const;
};

/// What the table is to show.
struct top_settings {
	std::vector<top_column> columns; ///< as they are counted
	std::vector<top_metric> metrics;
	top_by by = top_by::task;
	/// A column's or metric's name, "cpu", "pid" or "name".
	std::string sort;
	bool reverse = false;
	bool per_socket = false;
	size_t rows = 0; ///< 0: all
	/// Which tasks to tell apart; the rest is "other".  None: all.
	std::function<bool(const task_share &)> wanted;
};

/// A line of the table.
struct top_row {
	uint32_t pid = 0, tgid = 0;
	uint64_t start_time = 0, cgroup = 0;
	std::string comm;
	uint64_t cpu_ns = 0;
	uint64_t tasks = 0;
	std::vector<std::vector<uint64_t>> counts; ///< [column][package]
};

/// In each column and package total is the sum of the rows, other and idle.
struct top_table {
	double seconds = 0;	   ///< the longest of the packages'
	std::vector<int> packages; ///< ids
	/// Of each package, between the reads of its counters.
	std::vector<double> package_seconds;
	std::vector<top_row> rows;
	top_row other, idle;
	std::vector<std::vector<uint64_t>> totals; ///< [column][package]
	uint64_t merged = 0, dropped = 0, missed = 0, looks = 0, reads = 0;
	std::vector<std::string> warnings;
};

top_table make_table(const account &a, const top_settings &settings);

/// Most active first; names and numbers ascend.
void sort_rows(std::vector<top_row> &rows, const top_settings &settings,
	       const std::vector<double> &seconds);

/// Of all packages.
uint64_t sum_of(const std::vector<uint64_t> &counts);

/// The table for people, a string a line, none wider than @p width columns of
/// a terminal (0: any).
std::vector<std::string> show_table(const top_table &table,
				    const top_settings &settings,
				    cgroup_names &cgroups, size_t width);

/// The table for programs: an object, and lines of comma-separated values with
/// the titles.  A table that ends @p time seconds after the start.
nlohmann::ordered_json json_table(const top_table &table,
				  const top_settings &settings,
				  cgroup_names &cgroups, double time);
std::string csv_titles();
std::string csv_table(const top_table &table, const top_settings &settings,
		      cgroup_names &cgroups, double time);

/// Is it the name of a column or a metric that is shown?
bool is_shown(const top_settings &settings, std::string_view name);
/// "cpu", "pid", "name" or what is shown.
bool is_sort_key(std::string_view key, const top_settings &settings);

} // namespace cli
