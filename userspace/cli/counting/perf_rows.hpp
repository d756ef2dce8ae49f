// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of perf stat -x and perf stat -j, column for column and key for key as
// perf 6.1 prints them (tools/perf/util/stat-display.c), so that scripts that
// read perf's rows read ours.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

/// The place that perf stat prints before a count.
enum class perf_place { none, cpu, socket, node };

/// A count or a metric's value, with the columns that perf puts before it.
struct perf_row {
	std::string name; ///< of the event or metric
	/// Of an event that is counted in a cgroup: the cgroup, as the user
	/// wrote it.
	std::optional<std::string> cgroup;
	std::string_view unit;
	double value = 0; ///< not a number: not counted
	double error = 0; ///< standard error of the value
	double scale = 1; ///< of a count
	/// Nanoseconds of counting, and part of the time.
	double running = 0, share = 1;
	bool metric = false;
	perf_place place = perf_place::none;
	int number = 0;	 ///< of the CPU, socket or node
	size_t cpus = 1; ///< that count there
	/// Since the start of counting; negative without -I.
	std::chrono::nanoseconds time{-1};
	bool summary = false;  ///< of --summary, behind the intervals
	bool repeated = false; ///< a mean of -r
};

/// The first lines of a file of rows.
std::string perf_start();
/// The line of perf stat -x, with its newline. perf quotes no cell.
std::string perf_csv(const perf_row &row, std::string_view separator);
/// The line of perf stat -j, with its newline.
std::string perf_json(const perf_row &row);

/// perf's name of an event on one PMU, as with --no-merge:
/// "hswep_imc_0/cas_count.rd/" of "imc/cas_count.rd/", "reads [hswep_imc_0]".
std::string perf_name(std::string_view name, std::string_view pmu);

} // namespace cli
