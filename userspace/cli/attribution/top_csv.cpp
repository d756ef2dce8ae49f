// SPDX-License-Identifier: GPL-2.0-or-later
// uncore top's table as comma-separated values: a line for each value of a column
// or metric, of each row and each socket.
#include "attribution/top_table.hpp"

#include <fmt/format.h>

#include "output/csv.hpp"
#include "terminal/text.hpp"

namespace cli {

std::string csv_titles()
{
	return "time,row,pid,tgid,command,cgroup,cpu_ns,socket,name,value,unit,raw\n";
}

namespace {

class csv_writer {
public:
	csv_writer(const top_table &t, const top_settings &settings,
		   double time)
		: table_(t), settings_(settings),
		  time_(fmt::format("{:.6f}", time))
	{
	}

	/// Add the lines of a row.  @p task: pid, tgid, command and cgroup, as in
	/// csv_titles().
	void add(const std::string &row_type,
		 const std::vector<std::string> &task, const top_row &row)
	{
		std::vector<std::string> head{time_, row_type};

		head.insert(head.end(), task.begin(), task.end());
		head.push_back(std::to_string(row.cpu_ns));
		for (size_t p = 0; p < table_.packages.size(); p++) {
			auto start = head;

			start.push_back(std::to_string(table_.packages[p]));
			add_columns(start, row, p);
			add_metrics(start, row, p);
		}
	}
	std::string text() && { return std::move(text_); }

private:
	void add_line(std::vector<std::string> cells,
		      std::vector<std::string> rest)
	{
		cells.insert(cells.end(), rest.begin(), rest.end());
		text_ += csv_line(cells);
	}
	void add_columns(const std::vector<std::string> &start,
			 const top_row &row, size_t package)
	{
		for (size_t c = 0; c < settings_.columns.size(); c++) {
			const top_column &column = settings_.columns[c];
			const uint64_t raw = row.counts[c][package];

			if (!column.hidden)
				add_line(start,
					 {column.name,
					  exact(double(raw) * column.scale),
					  column.unit, std::to_string(raw)});
		}
	}
	void add_metrics(const std::vector<std::string> &start,
			 const top_row &row, size_t package)
	{
		for (const top_metric &metric : settings_.metrics)
			add_line(start,
				 {metric.name,
				  exact(metric.value(row.counts,
						     table_.package_seconds,
						     int(package))),
				  metric.unit, ""});
	}

	const top_table &table_;
	const top_settings &settings_;
	std::string time_, text_;
};

} // namespace

std::string csv_table(const top_table &t, const top_settings &settings,
		      cgroup_names &cgroups, double time)
{
	const std::vector<std::string> no_task(4);
	csv_writer out(t, settings, time);
	top_row total;

	total.counts = t.totals;
	for (const top_row &row : t.rows)
		total.cpu_ns += row.cpu_ns;
	total.cpu_ns += t.other.cpu_ns;
	out.add("total", no_task, total);
	out.add("idle", no_task, t.idle);
	out.add("other", no_task, t.other);
	for (const top_row &row : t.rows) {
		const std::string cgroup = printable(cgroups.name(row.cgroup));

		if (settings.by == top_by::cgroup)
			out.add("cgroup", {"", "", "", cgroup}, row);
		else
			out.add(settings.by == top_by::tree ? "tree" : "task",
				{std::to_string(row.pid),
				 std::to_string(row.tgid), printable(row.comm),
				 cgroup},
				row);
	}
	return std::move(out).text();
}

} // namespace cli
