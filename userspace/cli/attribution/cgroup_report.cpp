// SPDX-License-Identifier: GPL-2.0-or-later
#include "attribution/cgroup_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "counting/count_text.hpp"
#include "counting/perf_rows.hpp"
#include "output/csv.hpp"
#include "output/document.hpp"
#include "output/number.hpp"
#include "terminal/colour.hpp"
#include "terminal/layout.hpp"
#include "terminal/text.hpp"

namespace cli {

using uncore::period;
using json = nlohmann::ordered_json;

cgroup_report::cgroup_report(measurement &counting, const cgroup_plan &plan,
			     const cgroup_counts &counts, bool per_socket)
	: counting_(counting), options_(counting.options()), plan_(plan),
	  counts_(counts)
{
	add_rows(per_socket);
	for (const line &shown : lines(period::total)) {
		name_width_ = std::max(name_width_, width(shown.name));
		cgroup_width_ =
			std::max(cgroup_width_, width(printable(shown.cgroup)));
	}
}

/// Add the rows in the order of the output.  In perf's rows all events of a socket
/// come before the next socket; in other output all sockets of an event come before
/// the next event.
void cgroup_report::add_rows(bool per_socket)
{
	const size_t packages =
		counting_.counters().machine().packages().size();

	for (const cgroup_event &event : plan_.events) {
		if (!per_socket) {
			rows_.push_back({event, std::nullopt});
			continue;
		}
		for (size_t p = 0; p < packages; p++)
			if (counts_.has_counters(event, p))
				rows_.push_back({event, p});
	}
	if (options_.as_perf())
		std::stable_sort(rows_.begin(), rows_.end(),
				 [](const row &a, const row &b) {
					 return a.package < b.package;
				 });
}

std::vector<cgroup_report::line> cgroup_report::lines(period when) const
{
	const auto &packages = counting_.counters().machine().packages();
	std::vector<line> shown;

	for (const row &row : rows_) {
		const attribution_column &column =
			plan_.columns[row.event.column];
		const uncore::event &event = column.events.front();

		shown.push_back(
			{column.name, plan_.cgroups[row.event.cgroup].written,
			 event.unit, event.scale,
			 row.package ? &packages[*row.package] : nullptr,
			 counts_.count(row.event, row.package, when)});
	}
	return shown;
}

// --- text for people

std::string cgroup_report::human_titles(period when,
					const std::vector<line> &shown)
{
	const double now = counts_.seconds(period::total);
	std::string text;

	if (when == period::total && has_intervals())
		text = fmt::format("\nTotal of {:.3f} s\n", now);
	else if (when == period::total)
		text = fmt::format("Counted for {:.3f} s\n\n", now);
	else if (titled_)
		return {};
	titled_ = true;

	std::string titles;

	if (when == period::interval)
		titles = fmt::format("{:>9}  ", "TIME");
	if (!shown.empty() && shown.front().socket)
		titles += fmt::format("{:>6}  ", "SOCKET");
	titles += fmt::format("{:<{}}  {:<{}}  {:>20}", "NAME", name_width_,
			      "CGROUP", cgroup_width_, "VALUE");
	return text + bold(counting_.output().file(), titles) + '\n';
}

static std::string padded(std::string_view text, size_t columns)
{
	return fmt::format("{}{:{}}  ", text, "",
			   columns - std::min(columns, width(text)));
}

std::string cgroup_report::human_text(period when)
{
	const std::vector<line> shown = lines(when);
	std::string text = human_titles(when, shown);

	for (const line &line : shown) {
		const std::string rate = rate_text(
			line.value() / counts_.seconds(when), line.unit);

		if (when == period::interval)
			text += fmt::format("{:>9.3f}  ",
					    counts_.seconds(period::total));
		if (line.socket)
			text += fmt::format("{:>6}  ", line.socket->id);
		text += padded(line.name, name_width_) +
			padded(printable(line.cgroup), cgroup_width_) +
			fmt::format("{:>20}", human(line.value(), line.unit)) +
			(rate.empty() ? "" : fmt::format("  # {:>11}", rate)) +
			'\n';
	}
	return text;
}

// --- text for programs

std::string cgroup_report::csv_text(period when)
{
	std::string text;

	if (!titled_)
		text = "time,scope,socket,pmu,name,cgroup,value,unit,raw,enabled_ns,running_ns,running,error,reason\n";
	titled_ = true;
	for (const line &line : lines(when)) {
		const std::string ns = std::to_string(line.number.ns);

		text += csv_line(
			{when == period::total && has_intervals()
				 ? "total"
				 : fmt::format("{:.6f}",
					       counts_.seconds(period::total)),
			 line.socket ? "socket" : "machine",
			 line.socket ? std::to_string(line.socket->id) : "", "",
			 std::string(line.name), printable(line.cgroup),
			 exact(line.value()), std::string(line.unit),
			 std::to_string(line.number.raw), ns, ns, "1", "", ""});
	}
	return text;
}

std::string cgroup_report::json_text(period when) const
{
	json document = begin_document("stat", &counting_.counters().machine());

	document["time"] = counts_.seconds(period::total);
	document["seconds"] = counts_.seconds(when);
	document["total"] = when == period::total;
	document["missed"] = counts_.missed();
	document["events"] = json::array();
	for (const line &line : lines(when)) {
		json event = {{"event", line.name},
			      {"scope", line.socket ? "socket" : "machine"}};

		if (!line.cgroup.empty())
			event["cgroup"] = line.cgroup;
		if (line.socket)
			event["socket"] = line.socket->id;
		event["value"] = line.value();
		event["unit"] = line.unit;
		event["raw"] = line.number.raw;
		event["enabled_ns"] = event["running_ns"] = line.number.ns;
		event["running"] = 1;
		event["error"] = nullptr;
		document["events"].push_back(std::move(event));
	}
	document["metrics"] = document["unavailable"] = json::array();
	return document_line(document);
}

std::string cgroup_report::perf_text(period when)
{
	std::string text;

	if (!titled_ && !options_.output.empty())
		text = perf_start();
	titled_ = true;
	for (const line &line : lines(when)) {
		perf_row row;

		row.name = line.name;
		row.cgroup = line.cgroup;
		row.unit = line.unit;
		row.value = line.value();
		row.scale = line.scale;
		row.running = double(line.number.ns);
		row.place = options_.place;
		if (line.socket)
			row.number =
				row.place == perf_place::node
					? counting_.node_of(
						  line.socket->cpus.front())
					: line.socket->id;
		if (when == period::interval)
			row.time = std::chrono::nanoseconds(
				int64_t(counts_.seconds(period::total) * 1e9));
		row.summary = when == period::total && has_intervals();
		text += options_.perf_json ? perf_json(row)
					   : perf_csv(row, options_.separator);
	}
	return text;
}

std::string cgroup_report::text(period when)
{
	if (options_.as_perf())
		return perf_text(when);
	switch (options_.form) {
	case format::csv:
		return csv_text(when);
	case format::json:
		return json_text(when);
	case format::human:
		break;
	}
	return human_text(when);
}

bool cgroup_report::is_due(period when, bool last) const
{
	if (when == period::interval)
		return has_intervals();
	return last &&
	       (!has_intervals() || !options_.as_perf() || options_.summary);
}

bool cgroup_report::print(bool last)
{
	std::string printed;

	for (const period when : {period::interval, period::total})
		if (is_due(when, last))
			printed += text(when);
	if (options_.form == format::human && !options_.as_perf())
		return counting_.output().show(printed);
	return counting_.output().write(printed);
}

} // namespace cli
