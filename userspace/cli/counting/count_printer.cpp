// SPDX-License-Identifier: GPL-2.0-or-later
// Lines have a number each, with its remarks behind it. A table has the metrics
// of a group at all places, with the remarks below.
#include "counting/count_printer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "counting/count_text.hpp"
#include "output/message.hpp"
#include "output/number.hpp"
#include "output/table.hpp"
#include "terminal/colour.hpp"
#include "terminal/layout.hpp"

namespace cli {

namespace {

using uncore::period;
using uncore::scope;

std::vector<scope> scopes_of(const count_layout &layout)
{
	if (layout.table)
		return {scope::box, scope::package, scope::machine};
	return {layout.where};
}

/// Numbers of a metric in the order of a table's rows: the boxes of a socket,
/// the socket, and at the end the machine.
using reading = std::vector<const report_line *>;

const uncore::metric_info &metric_of(const reading &numbers)
{
	return *numbers.front()->counted.metric();
}

std::vector<reading> readings_of(const std::vector<report_line> &lines)
{
	std::vector<reading> metrics;

	for (const report_line &line : lines) {
		if (metrics.empty() ||
		    &metric_of(metrics.back()) != line.counted.metric())
			metrics.emplace_back();
		metrics.back().push_back(&line);
	}
	for (reading &metric : metrics)
		std::stable_sort(
			metric.begin(), metric.end(),
			[](const report_line *a, const report_line *b) {
				// The machine has -1, the largest.
				return unsigned(a->counted.package()) <
				       unsigned(b->counted.package());
			});
	return metrics;
}

/// A number, with a mark if it has a reason, which put_remarks() prints.
std::string cell_of(const report_line &line)
{
	return human(line.value, line.counted.unit()) +
	       (line.counted.reason().empty() ? "" : "*");
}

/// The number of a metric at the place of a line.
std::string cell_of(const reading &metric, scope where, int package,
		    std::string_view box = {})
{
	for (const report_line *line : metric)
		if (line->where == where && line->box() == box &&
		    line->counted.package() == package)
			return cell_of(*line);
	return "-";
}

class count_printer : public report {
public:
	count_printer(measurement &of, const count_layout &layout,
		      run_means *means)
		: report(of, scopes_of(layout),
			 layout.table ? layout.table->name : "", means),
		  layout_(layout)
	{
	}
	/// Add the run to the means, and print these after the last run, or
	/// when a signal interrupts this run.
	int end_run(int status);

private:
	void show(period when, const std::vector<report_line> &lines) override;
	std::string length_text(period when) const;
	void put_notes(std::string_view title, const table &rows);
	void put_row(const std::string &row, std::string_view reason);

	void put_lines(period when, const std::vector<report_line> &lines);
	void fit_columns(const std::vector<report_line> &lines);
	void put_line_titles(period when);
	void put_line(const report_line &line, period when);

	void put_table(const std::vector<report_line> &lines);
	std::string_view column_of(const uncore::metric_info &metric) const;
	bool is_by_box(const uncore::metric_info &metric) const;
	void put_boxes(const std::vector<reading> &metrics);
	void put_sockets(const std::vector<reading> &metrics);
	void put_remarks(const std::vector<report_line> &lines);

	const count_layout layout_;
	size_t name_width_ = 5, box_width_ = 3; ///< of lines
	bool titled_ = false, rated_ = false; ///< has counts, which have rates
};

std::string count_printer::length_text(period when) const
{
	if (when == period::interval)
		return fmt::format("Last {:.3f} s", seconds(when));
	if (means_)
		return fmt::format(
			"Means of {}{} runs, the last of {:.3f} s",
			means_->runs(),
			means_->runs() < means_->requested()
				? fmt::format(" of {}", means_->requested())
				: "",
			now());
	return fmt::format("{} {:.3f} s",
			   has_intervals() ? "Total of" : "Counted for", now());
}

/// Rows below the numbers, if any.
void count_printer::put_notes(std::string_view title, const table &rows)
{
	if (rows.empty())
		return;
	put("\n{}\n", yellow(out(), title));
	put(rows);
}

/// The reason ends the row, or is below it where the terminal is too narrow.
void count_printer::put_row(const std::string &row, std::string_view reason)
{
	const size_t columns = columns_of(out());

	if (reason.empty())
		return put("{}\n", row);
	if (!columns || width(row) + 2 + width(reason) <= columns)
		return put("{}  {}\n", row, yellow(out(), reason));
	put("{}\n", row);
	for (const std::string &line : wrap("    ", reason, columns))
		put("{}\n", yellow(out(), line));
}

// --- lines

void count_printer::fit_columns(const std::vector<report_line> &lines)
{
	for (const report_line &line : lines) {
		name_width_ = std::max(name_width_, width(line.counted.name()));
		box_width_ = std::max(box_width_, line.box().size());
		// A mean has none: each of its runs has its time.
		rated_ = rated_ || (!means_ && !line.counted.metric());
	}
}

void count_printer::put_line_titles(period when)
{
	std::string title;

	if (when == period::total && has_intervals())
		put("\n{}\n", length_text(when));
	else if (when == period::total)
		put("{}\n\n", length_text(when));
	else if (titled_)
		return;
	if (when == period::interval)
		title += fmt::format("{:>9}  ", "TIME");
	if (layout_.where != scope::machine)
		title += fmt::format("{:>6}  ", "SOCKET");
	if (layout_.where == scope::box)
		title += fmt::format("{:<{}}  ", "BOX", box_width_);
	title += fmt::format("{:<{}}  {:>20}", "NAME", name_width_, "VALUE");
	put("{}\n", bold(out(), title));
}

void count_printer::put_line(const report_line &line, period when)
{
	const uncore::counted_value &counted = line.counted;
	std::string row;

	if (when == period::interval)
		row += fmt::format("{:>9.3f}  ", now());
	if (layout_.where != scope::machine)
		row += fmt::format("{:>6}  ",
				   counted.package() < 0
					   ? ""
					   : std::to_string(counted.package()));
	if (layout_.where == scope::box)
		row += fmt::format("{:<{}}  ", line.box(), box_width_);

	std::string text = human(line.value, counted.unit());

	// Another run may have counted what the last one did not.
	if (!counted.metric() && !counted.running().count() &&
	    !std::isfinite(line.value))
		text = counted.reason().empty() ? "not counted" : "-";
	row += fmt::format("{}{:{}}  {:>20}", counted.name(), "",
			   name_width_ -
				   std::min(name_width_, width(counted.name())),
			   text);
	if (rated_) {
		const std::string rate = rate_text(line, seconds(when));

		row += fmt::format(
			"  {:13}",
			rate.empty() ? "" : fmt::format("# {:>11}", rate));
	}
	if (const std::string scaling = scaling_text(line); !scaling.empty())
		row += "  " + scaling;
	if (means_ && counted.share() >= 1)
		row += "  " + line.error_text();
	row.erase(row.find_last_not_of(' ') + 1);
	put_row(row, counted.reason());
}

void count_printer::put_lines(period when,
			      const std::vector<report_line> &lines)
{
	fit_columns(lines);
	put_line_titles(when);
	for (const report_line &line : lines)
		put_line(line, when);
}

// --- a table

/// The title of a metric's column in a table of boxes, or empty.
std::string_view
count_printer::column_of(const uncore::metric_info &metric) const
{
	for (const uncore::leading_metric &leading : layout_.table->leading)
		if (leading.name == metric.name)
			return leading.column;
	return "";
}

bool count_printer::is_by_box(const uncore::metric_info &metric) const
{
	return layout_.where == scope::box || !column_of(metric).empty();
}

/// Rows are boxes, columns metrics of one box type.
void count_printer::put_boxes(const std::vector<reading> &metrics)
{
	std::vector<table::column> columns{{"SOCKET"}, {"BOX"}};
	int package = -1;

	for (const reading &metric : metrics) {
		const std::string_view title = column_of(metric_of(metric));

		columns.push_back(
			{std::string(title.empty() ? metric_of(metric).name
						   : title),
			 table::align::right});
	}

	table rows(columns);

	for (const report_line *place : metrics.front()) {
		const int before =
			std::exchange(package, place->counted.package());
		std::vector<std::string> row{"", std::string(place->box())};

		if (place->where == scope::machine)
			row[0] = "all";
		else if (package != before)
			row[0] = std::to_string(package);
		if (place->where != scope::box)
			row[1] = "all";
		for (const reading &metric : metrics)
			row.push_back(cell_of(metric, place->where, package,
					      place->box()));
		if (place->where != scope::box)
			for (std::string &cell : row)
				cell = bold(out(), cell);
		rows.add(std::move(row));
	}
	put("\n");
	put(rows);
}

/// Rows are metrics, columns sockets.
void count_printer::put_sockets(const std::vector<reading> &metrics)
{
	const auto &packages = of_.counters().machine().packages();
	std::vector<table::column> columns{{"METRIC"}};

	for (const uncore::package &package : packages)
		columns.push_back({fmt::format("SOCKET {}", package.id),
				   table::align::right});
	columns.push_back({"ALL", table::align::right});
	columns.push_back({"", table::align::left, true});

	table rows(columns);

	for (const reading &metric : metrics) {
		std::vector<std::string> row{
			std::string(metric_of(metric).name)};

		for (const uncore::package &package : packages)
			row.push_back(
				cell_of(metric, scope::package, package.id));
		row.push_back(bold(out(), cell_of(metric, scope::machine, -1)));
		row.push_back(dim(out(), metric_of(metric).description));
		rows.add(std::move(row));
	}
	put("\n");
	put(rows);
}

/// The reasons of marked numbers, each once, and how certain the machine's
/// numbers are that are scaled.
void count_printer::put_remarks(const std::vector<report_line> &lines)
{
	std::vector<std::string_view> reasons;
	table scaled({{""}, {""}});

	for (const report_line &line : lines) {
		const std::string_view reason = line.counted.reason();
		const std::string scaling =
			line.where == scope::machine ? scaling_text(line) : "";

		if (line.where == scope::box &&
		    !is_by_box(*line.counted.metric()))
			continue;
		if (!reason.empty() &&
		    !std::count(reasons.begin(), reasons.end(), reason))
			reasons.push_back(reason);
		if (!scaling.empty())
			scaled.add({std::string(line.counted.name()), scaling});
	}
	if (!reasons.empty())
		put("\n");
	for (const std::string_view reason : reasons)
		put("{}\n", yellow(out(), fmt::format("* {}", reason)));
	put_notes("Multiplexed, for lack of counters:", scaled);
}

void count_printer::put_table(const std::vector<report_line> &lines)
{
	std::vector<std::vector<reading>> boxes;
	std::vector<reading> sockets;

	for (reading &metric : readings_of(lines)) {
		const uncore::metric_info &info = metric_of(metric);

		if (!is_by_box(info)) {
			sockets.push_back(std::move(metric));
			continue;
		}
		if (boxes.empty() ||
		    metric_of(boxes.back().front()).box != info.box)
			boxes.emplace_back();
		boxes.back().push_back(std::move(metric));
	}
	for (const std::vector<reading> &metrics : boxes)
		put_boxes(metrics);
	if (!sockets.empty())
		put_sockets(sockets);
	put_remarks(lines);
}

void count_printer::show(period when, const std::vector<report_line> &lines)
{
	if (layout_.table) {
		put("{}{}: {}  {}\n", titled_ ? "\n" : "", layout_.table->name,
		    layout_.table->question, dim(out(), length_text(when)));
		put_table(lines);
	} else {
		put_lines(when, lines);
	}
	titled_ = true;
	if (when != period::total)
		return;

	table missing({{""}, {""}});

	for (const missing_metric &metric : of_.missing())
		missing.add({std::string(metric.info->name), metric.reason});
	put_notes("Not on this machine:", missing);
}

int count_printer::end_run(int status)
{
	const bool interrupted = status >= by_signal;

	if (!interrupted)
		add_run();
	if (!interrupted && means_->runs() < means_->requested())
		return status;
	if (!means_->runs())
		note("interrupted before the first run ended: no means");
	else if (!print_means())
		return failure;
	return status;
}

} // namespace

int count(const context &shared, count_options &options,
	  const count_layout &layout,
	  const std::function<uncore::result<void>(measurement &)> &add,
	  run_means *means)
{
	auto opened = measurement::open(shared, options);

	if (!opened)
		return fail(opened.error());

	measurement &counts = **opened;

	if (auto added = add(counts); !added)
		return fail(added.error());

	count_printer printer(counts, layout, means);
	const int status =
		counts.run([&](bool last) { return printer.print(last); });

	return means && printer.ended() ? printer.end_run(status) : status;
}

} // namespace cli
