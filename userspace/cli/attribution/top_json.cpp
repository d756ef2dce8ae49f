// SPDX-License-Identifier: GPL-2.0-or-later
// uncore top's table as JSON.
#include "attribution/top_table.hpp"

#include <nlohmann/json.hpp>

namespace cli {

using json = nlohmann::ordered_json;

/// Get the value of each metric for all packages together and for each package.
static json metrics_json(const std::vector<std::vector<uint64_t>> &counts,
			 const top_table &t, const top_settings &settings)
{
	json values = json::object();

	for (const top_metric &metric : settings.metrics) {
		auto parts = json::array();

		for (size_t p = 0; p < t.packages.size(); p++)
			parts.push_back(
				metric.value(counts, t.package_seconds, p));
		values[metric.name] = {
			{"value", metric.value(counts, t.package_seconds)},
			{"sockets", std::move(parts)}};
	}
	return values;
}

static json counts_json(const std::vector<std::vector<uint64_t>> &column_counts,
			const top_settings &settings)
{
	json counts = json::object();

	for (size_t c = 0; c < settings.columns.size(); c++)
		counts[settings.columns[c].name] = column_counts[c];
	return counts;
}

json json_table(const top_table &t, const top_settings &settings,
		cgroup_names &cgroups, double time)
{
	json document{
		{"time", time},
		{"seconds", t.seconds},
		{"socket_seconds", t.package_seconds},
		{"sockets", t.packages},
		{"merged", t.merged},
		{"dropped", t.dropped},
		{"missed", t.missed},
		{"unfollowed", t.unfollowed},
		{"looks", t.looks},
		{"reads", t.reads},
	};

	document["columns"] = json::array();
	for (const auto &column : settings.columns)
		document["columns"].push_back({{"event", column.name},
					       {"scale", column.scale},
					       {"unit", column.unit}});
	for (const auto &metric : settings.metrics)
		document["metrics"].push_back(
			{{"metric", metric.name}, {"unit", metric.unit}});
	if (!settings.metrics.empty()) {
		document["total_metrics"] = metrics_json(t.totals, t, settings);
		document["idle_metrics"] =
			metrics_json(t.idle.counts, t, settings);
		document["other_metrics"] =
			metrics_json(t.other.counts, t, settings);
	}
	document["total"] = counts_json(t.totals, settings);
	document["idle"] = counts_json(t.idle.counts, settings);
	document["idle_ns"] = t.idle.cpu_ns;
	document["other"] = counts_json(t.other.counts, settings);
	document["other_ns"] = t.other.cpu_ns;
	document["rows"] = json::array();
	for (const auto &row : t.rows) {
		json r{
			{"counts", counts_json(row.counts, settings)},
			{"cpu_ns", row.cpu_ns},
		};

		if (settings.by != top_by::tree)
			r["tasks"] = row.tasks;
		if (!settings.metrics.empty())
			r["metrics"] = metrics_json(row.counts, t, settings);
		if (settings.by == top_by::cgroup) {
			r["cgroup"] = cgroups.name(row.cgroup);
		} else {
			r["pid"] = row.pid;
			r["tgid"] = row.tgid;
			r["command"] = row.comm;
			r["cgroup"] = cgroups.name(row.cgroup);
		}
		document["rows"].push_back(std::move(r));
	}
	return document;
}

} // namespace cli
