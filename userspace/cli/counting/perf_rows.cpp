// SPDX-License-Identifier: GPL-2.0-or-later
#include "counting/perf_rows.hpp"

#include <cmath>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "terminal/text.hpp"

namespace cli {

using std::chrono::nanoseconds;

static constexpr const char *not_counted = "<not counted>";

/// "1.000150391"
static std::string seconds_text(nanoseconds time)
{
	const auto whole_seconds =
		std::chrono::duration_cast<std::chrono::seconds>(time);

	return fmt::format("{}.{:09}", whole_seconds.count(),
			   (time - whole_seconds).count());
}

/// Return perf's "variance": the standard error in percent of the mean.
static double variance(const perf_row &row)
{
	const double percent = 100 * std::fabs(row.error / row.value);

	return std::isfinite(percent) ? percent : 0;
}

/// Format a count; perf prints decimals if an event's scale has decimals.
static std::string count_text(const perf_row &row)
{
	if (!std::isfinite(row.value))
		return not_counted;
	if (std::floor(row.scale) != row.scale)
		return fmt::format("{:.2f}", row.value);
	return fmt::format("{:.0f}", row.value);
}

/// Return the last cell of a metric's row: its unit and name, as perf prints them.
static std::string metric_text(const perf_row &row)
{
	if (row.unit.empty())
		return row.name;
	return fmt::format("{}  {}", row.unit, row.name);
}

static std::string csv_place(const perf_row &row, std::string_view separator)
{
	switch (row.place) {
	case perf_place::cpu:
		return fmt::format("CPU{}{}", row.number, separator);
	case perf_place::socket:
		return fmt::format("S{}{}{}{}", row.number, separator, row.cpus,
				   separator);
	case perf_place::node:
		return fmt::format("N{}{}{}{}", row.number, separator, row.cpus,
				   separator);
	case perf_place::none:
		break;
	}
	return {};
}

static std::string csv_metric(const perf_row &row, std::string_view separator)
{
	std::string text;

	// The row of a metric has empty cells where the row of an event has value,
	// unit, name, variance (with -r), runtime and percentage.
	for (int i = row.repeated ? 6 : 5; i; i--)
		text += separator;
	if (std::isfinite(row.value))
		text += fmt::format("{:.3f}", row.value);
	return text + fmt::format("{}{}", separator, metric_text(row));
}

static std::string csv_event(const perf_row &row, std::string_view separator)
{
	std::string text =
		fmt::format("{}{}{}{}{}", count_text(row), separator, row.unit,
			    separator, printable(row.name));

	if (row.tasks)
		text += fmt::format("{}{}", separator,
				    printable(row.tasks->second));
	if (row.repeated)
		text += fmt::format("{}{:.2f}%", separator, variance(row));
	text += fmt::format("{}{:.0f}{}{:.2f}", separator, row.running,
			    separator, 100 * row.share);
	// Two empty cells: perf prints a metric of the event, but has none for
	// events of boxes.
	return text + fmt::format("{}{}", separator, separator);
}

std::string perf_csv(const perf_row &row, std::string_view separator)
{
	std::string text;

	if (row.summary)
		text = fmt::format("{:>16}{}", "summary", separator);
	else if (row.time >= nanoseconds(0))
		text = fmt::format("{:>16}{}", seconds_text(row.time),
				   separator);
	text += csv_place(row, separator);
	text += row.metric ? csv_metric(row, separator)
			   : csv_event(row, separator);
	return text + '\n';
}

static std::string json_string(std::string_view text)
{
	return nlohmann::json(printable(text)).dump();
}

static std::string json_place(const perf_row &row)
{
	switch (row.place) {
	case perf_place::cpu:
		return fmt::format("\"cpu\" : \"{}\", ", row.number);
	case perf_place::socket:
		return fmt::format(
			"\"socket\" : \"S{}\", \"aggregate-number\" : {}, ",
			row.number, row.cpus);
	case perf_place::node:
		return fmt::format(
			"\"node\" : \"N{}\", \"aggregate-number\" : {}, ",
			row.number, row.cpus);
	case perf_place::none:
		break;
	}
	return {};
}

static std::string json_metric(const perf_row &row)
{
	return fmt::format("\"metric-value\" : {}, \"metric-unit\" : {}",
			   std::isfinite(row.value)
				   ? fmt::format("{:.6f}", row.value)
				   : "null",
			   json_string(metric_text(row)));
}

static std::string json_event(const perf_row &row)
{
	const bool counted = std::isfinite(row.value);
	std::string text = fmt::format(
		"\"counter-value\" : \"{}\", \"unit\" : {}, \"event\" : {}, ",
		counted ? fmt::format("{:.6f}", row.value) : not_counted,
		json_string(row.unit), json_string(row.name));

	if (row.tasks)
		text += fmt::format("\"{}\" : {}, ", row.tasks->first,
				    json_string(row.tasks->second));
	if (row.repeated)
		text += fmt::format("\"variance\" : {:.2f}, ", variance(row));
	text += fmt::format("\"event-runtime\" : {:.0f}, \"pcnt-running\" : "
			    "{:.2f}, ",
			    row.running, 100 * row.share);
	return text + fmt::format("\"metric-value\" : 0.000000, "
				  "\"metric-unit\" : \"{}\"",
				  counted ? "(null)" : "");
}

std::string perf_json(const perf_row &row)
{
	std::string text = "{";

	if (row.time >= nanoseconds(0) && !row.summary)
		text += fmt::format("\"interval\" : {}, ",
				    seconds_text(row.time));
	text += json_place(row);
	text += row.metric ? json_metric(row) : json_event(row);
	return text + "}\n";
}

std::string perf_start()
{
	const std::time_t now = std::time(nullptr);
	char text[32];

	return fmt::format("# started on {}\n", ctime_r(&now, text));
}

std::string perf_name(std::string_view name, std::string_view pmu)
{
	if (const size_t slash = name.find('/'); slash != name.npos)
		return fmt::format("{}{}", pmu, name.substr(slash));
	return fmt::format("{} [{}]", name, pmu);
}

} // namespace cli
