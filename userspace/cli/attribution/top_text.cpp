// SPDX-License-Identifier: GPL-2.0-or-later
// uncore top's table for people.
#include "attribution/top_table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "output/number.hpp"
#include "output/table.hpp"
#include "terminal/layout.hpp"
#include "terminal/text.hpp"

namespace cli {

namespace {

/// The unit in which a column's or metric's values are shown.  Values in MiB or
/// other multiples of bytes are converted to bytes, and each number then gets the
/// prefix that fits its size.
struct shown_unit {
	std::string name;
	double size = 1;    ///< of a column's or metric's unit, in shown units
	bool bytes = false; ///< numbers get binary prefixes
};

} // namespace

static shown_unit shown_as(std::string_view unit)
{
	std::string_view per = unit.ends_with("/s") ? "/s" : "";

	if (const double size =
		    bytes_in(unit.substr(0, unit.size() - per.size())))
		return {fmt::format("B{}", per), size, true};
	return {std::string(unit), 1, false};
}

static std::string shown(double value, const shown_unit &unit)
{
	return short_number(value * unit.size, unit.bytes);
}

static double rate(uint64_t count, const top_column &column, double seconds)
{
	return seconds > 0 ? count * column.scale / seconds : 0;
}

static std::string title_of(const top_column &column)
{
	return fmt::format("{} {}/s", column.name, shown_as(column.unit).name);
}

static std::string title_of(const top_metric &metric)
{
	return metric.unit.empty() ? metric.name
				   : fmt::format("{} {}", metric.name,
						 shown_as(metric.unit).name);
}

static std::vector<table::column> titles(const top_table &t,
					 const top_settings &settings)
{
	constexpr auto right = table::align::right;
	std::vector<table::column> columns;

	if (settings.by != top_by::cgroup)
		columns.push_back({"PID", right});
	else
		columns.push_back({"TASKS", right});
	columns.push_back({"CPU%", right});

	auto add = [&](std::string title) {
		if (settings.per_socket && t.packages.size() > 1)
			for (int id : t.packages)
				columns.push_back(
					{fmt::format("S{}", id), right});
		columns.push_back({std::move(title), right});
	};

	for (const auto &column : settings.columns) {
		if (column.hidden)
			continue;
		add(title_of(column));
		columns.push_back({"%", right});
	}
	for (const auto &metric : settings.metrics)
		add(title_of(metric));
	columns.push_back(
		{settings.by == top_by::cgroup ? "CGROUP" : "COMMAND"});
	return columns;
}

static std::vector<std::string> cells(const top_table &t,
				      const top_settings &settings,
				      const top_row &row, std::string number,
				      std::string name)
{
	std::vector<std::string> row_cells{std::move(number)};

	row_cells.push_back(
		t.seconds > 0
			? fmt::format("{:.1f}", row.cpu_ns / 1e7 / t.seconds)
			: "");
	for (size_t c = 0; c < settings.columns.size(); c++) {
		const top_column &column = settings.columns[c];

		if (column.hidden)
			continue;
		uint64_t total = sum_of(t.totals[c]);
		uint64_t count = sum_of(row.counts[c]);

		shown_unit unit = shown_as(column.unit);
		double sum = 0;

		for (size_t p = 0; p < t.packages.size(); p++) {
			double part = rate(row.counts[c][p], column,
					   t.package_seconds[p]);

			if (settings.per_socket && t.packages.size() > 1)
				row_cells.push_back(shown(part, unit));
			sum += part;
		}
		row_cells.push_back(shown(sum, unit));
		row_cells.push_back(
			total ? fmt::format("{:.1f}", 100.0 * count / total)
			      : "-");
	}
	for (const top_metric &metric : settings.metrics) {
		shown_unit unit = shown_as(metric.unit);

		if (settings.per_socket && t.packages.size() > 1)
			for (size_t p = 0; p < t.packages.size(); p++)
				row_cells.push_back(shown(
					metric.value(row.counts,
						     t.package_seconds, p),
					unit));
		row_cells.push_back(shown(
			metric.value(row.counts, t.package_seconds), unit));
	}
	row_cells.push_back(std::move(name));
	return row_cells;
}

static std::string rest_name(const top_table &t)
{
	if (!t.merged && !t.dropped)
		return "[other tasks]";
	return fmt::format(
		"[other: {} tasks merged{}]", t.merged,
		t.dropped ? fmt::format(", {} switches dropped", t.dropped)
			  : "");
}

std::vector<std::string> show_table(const top_table &t,
				    const top_settings &settings,
				    cgroup_names &cgroups, size_t width)
{
	/// Columns of the terminal below which a name is not shortened, but
	/// the line is cut.
	constexpr size_t least_name = 12;
	std::vector<std::string> lines, names;
	table text(titles(t, settings));
	size_t n = settings.rows ? std::min(settings.rows, t.rows.size())
				 : t.rows.size();
	top_row total;

	total.counts = t.totals;
	for (const auto &row : t.rows)
		total.cpu_ns += row.cpu_ns;
	total.cpu_ns += t.other.cpu_ns;
	text.add(cells(t, settings, total, "", "[total]"));
	text.add(cells(t, settings, t.idle, "", "[idle: no task ran]"));
	if (t.merged || t.dropped || t.other.cpu_ns)
		text.add(cells(t, settings, t.other, "", rest_name(t)));
	for (size_t i = 0; i < n; i++) {
		const top_row &row = t.rows[i];
		bool grouped = settings.by == top_by::cgroup;

		names.push_back(printable(grouped ? cgroups.name(row.cgroup)
						  : row.comm));
		text.add(cells(t, settings, row,
			       std::to_string(grouped ? row.tasks : row.pid),
			       names.back()));
	}
	lines = text.lines();
	for (size_t i = 0; i < lines.size(); i++) {
		const size_t first = lines.size() - names.size();
		const size_t line_width = cli::width(lines[i]);

		// The names of rows are the last cells.  Cut a long name in the
		// middle, so that its end stays visible.
		if (width && line_width > width && i >= first) {
			const std::string &name = names[i - first];
			const size_t room =
				width -
				std::min(width, line_width - cli::width(name));

			if (room >= least_name) {
				lines[i].resize(lines[i].size() - name.size());
				lines[i] += fit_middle(name, room);
			}
		}
		lines[i] = fit(lines[i], width);
	}
	return lines;
}

} // namespace cli
