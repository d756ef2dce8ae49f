// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of perf stat -x and perf stat -j, column for column and key for key as
// perf 6.1 prints them (tools/perf/util/stat-display.c), so that scripts for
// perf's rows read these rows as well.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cli {

/// The part of the machine that perf stat prints before a count: with -A the CPU, with
/// --per-socket the socket, with --per-node the NUMA node.
enum class perf_place { none, cpu, socket, node };

/// A count or a metric's value, with the columns that perf puts before it.
struct perf_row {
	std::string name; ///< of the event or metric
	/// The tasks that an event is counted for: a key such as "cgroup", and the
	/// cgroup as the user wrote its name.
	std::optional<std::pair<std::string_view, std::string>> tasks;
	std::string_view unit;
	double value = 0; ///< not a number: not counted
	double error = 0; ///< standard error of the value
	double scale = 1; ///< factor from a count to units
	/// Time for which the event counted, in nanoseconds, and as a part of
	/// the time for which it was enabled.
	double running = 0, share = 1;
	bool metric = false;
	perf_place place = perf_place::none;
	int number = 0;	 ///< of the CPU, socket or node
	size_t cpus = 1; ///< number of CPUs that count in the place
	/// Time since the start of counting; negative without -I.
	std::chrono::nanoseconds time{-1};
	bool summary = false;  ///< total after the intervals (--summary)
	bool repeated = false; ///< mean of several runs (-r)
};

/// Return the first lines of a file of rows.
std::string perf_start();
/// Return the line of perf stat -x, with a newline. perf quotes no cell.
std::string perf_csv(const perf_row &row, std::string_view separator);
/// Return the line of perf stat -j, with a newline.
std::string perf_json(const perf_row &row);

/// Return the name that perf stat --no-merge prints for an event on one PMU:
/// "hswep_imc_0/cas_count.rd/" for "imc/cas_count.rd/", and "reads [hswep_imc_0]" for
/// an event with name=reads.
std::string perf_name(std::string_view name, std::string_view pmu);

} // namespace cli
