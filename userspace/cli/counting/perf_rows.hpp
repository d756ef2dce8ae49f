// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of perf stat -x and perf stat -j, column for column and key for key as
// perf 6.1 prints them (tools/perf/util/stat-display.c), so that scripts for
// perf's rows read these rows as well.
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
	/// Cgroup in which an event is counted, as the user wrote its name.
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
	size_t cpus = 1; ///< CPUs that count at the place
	/// Time since the start of counting; negative without -I.
	std::chrono::nanoseconds time{-1};
	bool summary = false;  ///< of --summary, behind the intervals
	bool repeated = false; ///< a mean of -r
};

/// Return the first lines of a file of rows.
std::string perf_start();
/// Return the line of perf stat -x, with a newline. perf quotes no cell.
std::string perf_csv(const perf_row &row, std::string_view separator);
/// Return the line of perf stat -j, with a newline.
std::string perf_json(const perf_row &row);

/// Return perf's name of an event on one PMU, as with --no-merge:
/// "hswep_imc_0/cas_count.rd/" of "imc/cas_count.rd/", "reads [hswep_imc_0]".
std::string perf_name(std::string_view name, std::string_view pmu);

} // namespace cli
