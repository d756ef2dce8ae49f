// SPDX-License-Identifier: GPL-2.0-or-later
#include "counting/perf_rows.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "counting/count_report.hpp"
#include "terminal/text.hpp"

namespace cli {

using std::chrono::nanoseconds;

static constexpr const char *not_counted = "<not counted>";

/// "1.000150391"
static std::string seconds_text(nanoseconds time)
{
	const auto whole =
		std::chrono::duration_cast<std::chrono::seconds>(time);

	return fmt::format("{}.{:09}", whole.count(), (time - whole).count());
}

/// Standard error in percent of the mean.
static double variance(const report_line &line)
{
	const double percent = 100 * std::fabs(line.error / line.value);

	return std::isfinite(percent) ? percent : 0;
}

/// perf prints decimals where an event's scale has some.
static std::string count_text(const report_line &line)
{
	const uncore::event *event = line.counted.first_event();

	if (!std::isfinite(line.value))
		return not_counted;
	if (event && std::floor(event->scale) != event->scale)
		return fmt::format("{:.2f}", line.value);
	return fmt::format("{:.0f}", line.value);
}

/// perf writes the unit before a metric's name.
static std::string metric_text(const uncore::counted_value &counted)
{
	if (counted.unit().empty())
		return std::string(counted.name());
	return fmt::format("{}  {}", counted.unit(), counted.name());
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
	const report_line &line = row.line;
	std::string text;

	// Value, unit, event, variance, runtime and percentage are an event's.
	for (int i = row.repeated ? 6 : 5; i; i--)
		text += separator;
	if (std::isfinite(line.value))
		text += fmt::format("{:.3f}", line.value);
	return text + fmt::format("{}{}", separator, metric_text(line.counted));
}

static std::string csv_event(const perf_row &row, std::string_view separator)
{
	const report_line &line = row.line;
	std::string text = fmt::format("{}{}{}{}{}", count_text(line),
				       separator, line.counted.unit(),
				       separator, printable(row.name));

	if (row.repeated)
		text += fmt::format("{}{:.2f}%", separator, variance(line));
	text += fmt::format("{}{:.0f}{}{:.2f}", separator, line.running,
			    separator, 100 * line.share);
	// perf's own metric of an event, which events of boxes have not.
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
	text += row.line.counted.metric() ? csv_metric(row, separator)
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

static std::string json_metric(const report_line &line)
{
	return fmt::format("\"metric-value\" : {}, \"metric-unit\" : {}",
			   std::isfinite(line.value)
				   ? fmt::format("{:.6f}", line.value)
				   : "null",
			   json_string(metric_text(line.counted)));
}

static std::string json_event(const perf_row &row)
{
	const report_line &line = row.line;
	const bool counted = std::isfinite(line.value);
	std::string text = fmt::format(
		"\"counter-value\" : \"{}\", \"unit\" : {}, \"event\" : {}, ",
		counted ? fmt::format("{:.6f}", line.value) : not_counted,
		json_string(line.counted.unit()), json_string(row.name));

	if (row.repeated)
		text += fmt::format("\"variance\" : {:.2f}, ", variance(line));
	text += fmt::format("\"event-runtime\" : {:.0f}, \"pcnt-running\" : "
			    "{:.2f}, ",
			    line.running, 100 * line.share);
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
	text += row.line.counted.metric() ? json_metric(row.line)
					  : json_event(row);
	return text + "}\n";
}

std::string perf_name(std::string_view name, std::string_view pmu)
{
	if (const size_t slash = name.find('/'); slash != name.npos)
		return fmt::format("{}{}", pmu, name.substr(slash));
	return fmt::format("{} [{}]", name, pmu);
}

} // namespace cli
