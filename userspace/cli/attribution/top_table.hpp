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

/// The form in which a column's counts are shown.
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
		/// Index of the column; nullopt: duration_time.
		std::optional<size_t> column;
		/// Number of the column's counters in each package.
		std::vector<double> sources;
	};

	std::string name;
	uncore::expression expression;
	std::vector<operand> operands; ///< by term of the expression
	double scale = 1;
	std::string unit;

	/// Evaluate the metric for counts [column][package] in @p seconds
	/// [package], of one package or of all packages (-1).
	/// @return not a number after a division by 0.
	double value(const std::vector<std::vector<uint64_t>> &counts,
		     const std::vector<double> &seconds,
		     int package = -1) const;
};

/// Columns, rows and order of the table.
struct top_settings {
	std::vector<top_column> columns; ///< in the order of the counts
	std::vector<top_metric> metrics;
	top_by by = top_by::task;
	/// A column's or metric's name, "cpu", "pid" or "name".
	std::string sort;
	bool reverse = false;
	bool per_socket = false;
	size_t rows = 0; ///< 0: all
	/// Does a task have a row?  The other tasks are "other".  Empty: all
	/// tasks have a row.
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
	double seconds = 0;	   ///< the longest of package_seconds
	std::vector<int> packages; ///< ids
	/// Time between the reads of the counters, by package.
	std::vector<double> package_seconds;
	std::vector<top_row> rows;
	top_row other, idle;
	std::vector<std::vector<uint64_t>> totals; ///< [column][package]
	uint64_t merged = 0, dropped = 0, missed = 0, looks = 0, reads = 0;
	std::vector<std::string> warnings;
};

top_table make_table(const account &a, const top_settings &settings);

/// Sort rows, the most active first; names and pids ascend.
void sort_rows(std::vector<top_row> &rows, const top_settings &settings,
	       const std::vector<double> &seconds);

/// Add the counts of all packages.
uint64_t sum_of(const std::vector<uint64_t> &counts);

/// Format the table for people, one string per line, at most @p width columns
/// of a terminal wide (0: any width).
std::vector<std::string> show_table(const top_table &table,
				    const top_settings &settings,
				    cgroup_names &cgroups, size_t width);

/// Format the table for programs: an object, and lines of comma-separated
/// values with the titles.  The table ends @p time seconds after the start.
nlohmann::ordered_json json_table(const top_table &table,
				  const top_settings &settings,
				  cgroup_names &cgroups, double time);
std::string csv_titles();
std::string csv_table(const top_table &table, const top_settings &settings,
		      cgroup_names &cgroups, double time);

/// Is @p name the name of a column or a metric that is shown?
bool is_shown(const top_settings &settings, std::string_view name);
/// Is @p key "cpu", "pid", "name" or the name of a shown column or metric?
bool is_sort_key(std::string_view key, const top_settings &settings);

} // namespace cli
