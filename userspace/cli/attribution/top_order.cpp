// SPDX-License-Identifier: GPL-2.0-or-later
// The order of uncore top's rows.
#include "attribution/top_table.hpp"

#include <algorithm>
#include <cmath>

namespace cli {

static const top_metric *metric_named(std::string_view name,
				      const top_settings &settings)
{
	const auto &metrics = settings.metrics;
	auto match =
		std::find_if(metrics.begin(), metrics.end(),
			     [&](auto &metric) { return metric.name == name; });

	return match == metrics.end() ? nullptr : &*match;
}

static const top_column *column_named(std::string_view name,
				      const top_settings &settings)
{
	const auto &columns = settings.columns;
	auto match =
		std::find_if(columns.begin(), columns.end(), [&](auto &column) {
			return !column.hidden && column.name == name;
		});

	return match == columns.end() ? nullptr : &*match;
}

bool is_shown(const top_settings &settings, std::string_view name)
{
	return column_named(name, settings) || metric_named(name, settings);
}

bool is_sort_key(std::string_view key, const top_settings &settings)
{
	return key == "cpu" || key == "pid" || key == "name" ||
	       is_shown(settings, key);
}

/// Get a row's value of the column or metric by which the table is sorted.  Rows
/// for which the metric has no value (division by 0) come last.
static double activity(const top_row &row, const top_settings &settings,
		       const std::vector<double> &seconds)
{
	if (const auto *metric = metric_named(settings.sort, settings)) {
		double value = metric->value(row.counts, seconds);

		return std::isnan(value) ? -INFINITY : value;
	}

	const auto *column = column_named(settings.sort, settings);

	return column ? sum_of(row.counts[column - settings.columns.data()])
		      : 0;
}

void sort_rows(std::vector<top_row> &rows, const top_settings &settings,
		      const std::vector<double> &seconds)
{
	std::stable_sort(rows.begin(), rows.end(), [&](auto &a, auto &b) {
		if (settings.sort == "cpu")
			return a.cpu_ns > b.cpu_ns;
		if (settings.sort == "pid")
			return a.pid < b.pid;
		if (settings.sort == "name")
			return a.comm < b.comm;
		return activity(a, settings, seconds) >
		       activity(b, settings, seconds);
	});
	if (settings.reverse)
		std::reverse(rows.begin(), rows.end());
}

} // namespace cli
