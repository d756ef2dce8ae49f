// SPDX-License-Identifier: GPL-2.0-or-later
// uncore top's table, and the table as text, CSV and JSON.  The table has a row for
// each task, process, tree or cgroup that ran since the last account, with its shares of
// the packages' counts.  attribution.hpp explains accounts and shares.
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

/// The tasks that a row of the table adds up.
enum class top_by { task, process, cgroup, tree };

/// The form in which a column's counts are shown.
struct top_column {
	std::string name;
	double scale = 1;    ///< factor from a count to a number of units
	std::string unit;    ///< such as "MiB"; empty: plain counts
	bool hidden = false; ///< not shown: only metrics need the counts
};

/// A metric: an expression, evaluated with the columns' counts of a row.
struct top_metric {
	/// An event or duration_time in the expression.
	struct operand {
		/// Index of the event's column; nullopt: duration_time.
		std::optional<size_t> column;
		/// Number of counters that the column adds up in each package,
		/// for source_count() in the expression.
		std::vector<double> sources;
	};

	std::string name;
	uncore::expression expression;
	std::vector<operand> operands; ///< by term of the expression
	double scale = 1; ///< factor from the expression's value to units
	std::string unit;

	/// Evaluate the metric for one package or for all packages (-1).
	/// @param counts [column][package], of a row.
	/// @param seconds time in which the counts were counted, by package.
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
	size_t rows = 0; ///< limit of the rows that are shown, 0: none
	/// Does a task have a row?  The other tasks are "other".  Empty: all
	/// tasks have a row.
	std::function<bool(const task_share &)> wanted;
};

/// A line of the table: a task, or the sum of the tasks of a process, tree or cgroup.
struct top_row {
	/// Identity of the task; of several tasks, the last task that was added; of
	/// a tree, its root.
	uint32_t pid = 0, tgid = 0;
	uint64_t start_time = 0, cgroup = 0;
	std::string comm;    ///< name of the task or process
	uint64_t cpu_ns = 0; ///< time on CPUs
	uint64_t tasks = 0;  ///< number of tasks in the row; unknown of a tree
	std::vector<std::vector<uint64_t>> counts; ///< [column][package]
};

/// In each column and package, totals is the sum of the rows, other and idle.
/// merged, dropped, missed, unfollowed, looks and reads are as in struct account.
struct top_table {
	double seconds = 0;	   ///< the longest of package_seconds
	std::vector<int> packages; ///< ids
	/// Time between the reads of the counters, by package.
	std::vector<double> package_seconds;
	std::vector<top_row> rows;
	top_row other, idle;
	std::vector<std::vector<uint64_t>> totals; ///< [column][package]
	uint64_t merged = 0, dropped = 0, missed = 0, unfollowed = 0;
	uint64_t looks = 0, reads = 0;
	std::vector<std::string> warnings;
};

top_table make_table(const account &a, const top_settings &settings);

/// Sort rows by settings.sort: counts, metrics and CPU time from the largest,
/// names and pids from the smallest.  settings.reverse reverses the order.
/// @param seconds time of the counts, by package.
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
