// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers of stat and metric for people, in one of two layouts.  With lines, each
// number has a line, with remarks behind the number.  A table has all metrics of a
// group, for boxes, sockets and the machine (the scopes), with remarks below.
#include "counting/count_printer.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "counting/count_text.hpp"
#include "output/message.hpp"
#include "output/number.hpp"
#include "output/table.hpp"
#include "terminal/colour.hpp"
#include "terminal/layout.hpp"
#include "terminal/text.hpp"

namespace cli {

namespace {

using uncore::period;
using uncore::scope;

std::vector<scope> scopes_of(const count_layout &layout)
{
	if (layout.table)
		return {scope::box, scope::package, scope::machine};
	return {layout.scope};
}

/// All numbers of a metric, in the order of a table's rows: the boxes of each socket
/// and then the socket, and at the end the machine.
using reading = std::vector<const report_line *>;

const uncore::metric_info &metric_of(const reading &numbers)
{
	return *numbers.front()->counted.metric;
}

/// Collect the numbers of each metric from lines that are sorted by metric.
std::vector<reading> readings_of(const std::vector<report_line> &lines)
{
	std::vector<reading> metrics;

	for (const report_line &line : lines) {
		if (metrics.empty() ||
		    &metric_of(metrics.back()) != line.counted.metric)
			metrics.emplace_back();
		metrics.back().push_back(&line);
	}
	for (reading &metric : metrics)
		std::stable_sort(
			metric.begin(), metric.end(),
			[](const report_line *a, const report_line *b) {
				// The package of the whole machine is -1:
				// as unsigned, the largest number.
				return unsigned(a->counted.package) <
				       unsigned(b->counted.package);
			});
	return metrics;
}

/// Format a number, with a mark if put_remarks() prints a remark on it.
std::string cell_of(const report_line &line)
{
	return human(line.value, line.counted.unit) +
	       (line.counted.reason.empty() ? "" : "*");
}

/// Format the number of a metric for a box, package or the machine; "-" without a
/// number.
std::string cell_of(const reading &metric, scope line_scope, int package,
		    std::string_view box = {})
{
	for (const report_line *line : metric)
		if (line->scope == line_scope && line->box() == box &&
		    line->counted.package == package)
			return cell_of(*line);
	return "-";
}

/// The numbers of a set of counters.
class counter_numbers : public number_source {
public:
	explicit counter_numbers(const uncore::counter_set &counters)
		: counters_(counters)
	{
	}
	std::vector<report_line> lines(scope line_scope,
				       period when) const override;
	double seconds(period when) const override
	{
		return std::chrono::duration<double>(counters_.elapsed(when))
			.count();
	}

private:
	const uncore::counter_set &counters_;
};

std::vector<report_line> counter_numbers::lines(scope line_scope,
						period when) const
{
	std::vector<report_line> lines;

	for (const uncore::counted_value &counted :
	     counters_.values(line_scope, when)) {
		const double error = counted.standard_error();

		lines.push_back({{counted.index(), counted.name(),
				  counted.unit(), counted.metric(),
				  counted.first_event(), counted.pmu(),
				  counted.package(), counted.raw(),
				  counted.enabled(), counted.running(),
				  counted.share(),
				  std::string(counted.reason())},
				 line_scope,
				 counted.value(),
				 error,
				 error,
				 double(counted.running().count()),
				 counted.share()});
	}
	return lines;
}

class count_printer : public report {
public:
	count_printer(measurement &counts, const number_source &numbers,
		      const count_layout &layout, run_means *means)
		: report(counts, numbers, scopes_of(layout),
			 layout.table ? layout.table->name : "", means),
		  layout_(layout)
	{
	}
	/// Add the run to the means; print the means after the last run, or
	/// when a signal interrupts this run.
	int end_run(int status);
	/// Write the file of --save.
	/// @return the exit status, @p status if that is not success.
	int save_numbers(int status);

private:
	void show(period report_period,
		  const std::vector<report_line> &lines) override;
	std::string length_text(period report_period) const;
	void put_notes(std::string_view title, const table &rows);
	void put_row(const std::string &row, std::string_view reason);

	void put_lines(period report_period,
		       const std::vector<report_line> &lines);
	void fit_columns(const std::vector<report_line> &lines);
	void put_line_titles(period report_period);
	void put_line(const report_line &line, period report_period);

	void put_table(const std::vector<report_line> &lines);
	std::string_view column_of(const uncore::metric_info &metric) const;
	bool is_by_box(const uncore::metric_info &metric) const;
	void put_boxes(const std::vector<reading> &metrics);
	void put_sockets(const std::vector<reading> &metrics);
	void put_remarks(const std::vector<report_line> &lines);

	void put_regions(const regions &counted);
	void add_region(const region &shown, table &rows);

	const count_layout layout_;
	/// Columns of lines.
	size_t name_width_ = 5, box_width_ = 3, tasks_width_ = 6;
	/// Titles have been printed; lines have rates.
	bool titled_ = false, rated_ = false;
};

std::string count_printer::length_text(period report_period) const
{
	if (report_period == period::interval)
		return fmt::format("Last {:.3f} s", seconds(report_period));
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

/// Print notes below the numbers, if there are rows.
void count_printer::put_notes(std::string_view title, const table &rows)
{
	if (rows.empty())
		return;
	put("\n{}\n", yellow(out(), title));
	put(rows);
}

/// Print a line and the reason of a missing number: behind the line, or below it on a
/// narrow terminal.
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
		name_width_ = std::max(name_width_, width(line.counted.name));
		box_width_ = std::max(box_width_, line.box().size());
		tasks_width_ = std::max(tasks_width_,
					width(printable(line.tasks.title)));
		// A mean of several runs has no rate, as each run has its own time.
		rated_ = rated_ || (!means_ && !line.counted.metric);
	}
}

/// Fill a cell of a line up to a number of columns, and add the gap to the next cell.
std::string padded(std::string_view text, size_t columns)
{
	return fmt::format("{}{:{}}  ", text, "",
			   columns - std::min(columns, width(text)));
}

std::string upper_case(std::string_view word)
{
	std::string text(word);

	std::transform(text.begin(), text.end(), text.begin(), ::toupper);
	return text;
}

void count_printer::put_line_titles(period report_period)
{
	std::string title;

	if (report_period == period::total && has_intervals())
		put("\n{}\n", length_text(report_period));
	else if (report_period == period::total)
		put("{}\n\n", length_text(report_period));
	else if (titled_)
		return;
	if (report_period == period::interval)
		title += fmt::format("{:>9}  ", "TIME");
	if (layout_.scope != scope::machine)
		title += fmt::format("{:>6}  ", "SOCKET");
	if (layout_.scope == scope::box)
		title += fmt::format("{:<{}}  ", "BOX", box_width_);
	title += fmt::format("{:<{}}  ", "NAME", name_width_);
	if (!numbers_.tasks_key().empty())
		title += padded(upper_case(numbers_.tasks_key()), tasks_width_);
	title += fmt::format("{:>20}", "VALUE");
	put("{}\n", bold(out(), title));
}

void count_printer::put_line(const report_line &line, period report_period)
{
	const counted_number &counted = line.counted;
	std::string row;

	if (report_period == period::interval)
		row += fmt::format("{:>9.3f}  ", now());
	if (layout_.scope != scope::machine)
		row += fmt::format("{:>6}  ",
				   counted.package < 0
					   ? ""
					   : std::to_string(counted.package));
	if (layout_.scope == scope::box)
		row += fmt::format("{:<{}}  ", line.box(), box_width_);

	std::string text = human(line.value, counted.unit);

	// This run has not counted the event.  The value is finite if it is a
	// mean, and another run has counted the event.
	if (!counted.metric && !counted.running.count() &&
	    !std::isfinite(line.value))
		text = counted.reason.empty() ? "not counted" : "-";
	row += padded(counted.name, name_width_);
	if (!numbers_.tasks_key().empty())
		row += padded(printable(line.tasks.title), tasks_width_);
	row += fmt::format("{:>20}", text);
	if (rated_) {
		const std::string rate =
			rate_text(line, seconds(report_period));

		row += fmt::format(
			"  {:13}",
			rate.empty() ? "" : fmt::format("# {:>11}", rate));
	}
	if (std::isfinite(line.tasks.part))
		row += fmt::format("  {:>7}", percent(line.tasks.part));
	if (const std::string scaling = scaling_text(line); !scaling.empty())
		row += "  " + scaling;
	if (means_ && counted.share >= 1)
		row += "  " + line.error_text();
	row.erase(row.find_last_not_of(' ') + 1);
	put_row(row, counted.reason);
}

void count_printer::put_lines(period report_period,
			      const std::vector<report_line> &lines)
{
	fit_columns(lines);
	put_line_titles(report_period);
	for (const report_line &line : lines)
		put_line(line, report_period);
}

// --- a table

/// Return the title of a metric's column in a table of boxes; "" for a metric without
/// such a column.
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
	return layout_.scope == scope::box || !column_of(metric).empty();
}

/// Print a table of one box type: its rows are boxes, its columns metrics.
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

	for (const report_line *line : metrics.front()) {
		const int previous_package =
			std::exchange(package, line->counted.package);
		std::vector<std::string> row{"", std::string(line->box())};

		if (line->scope == scope::machine)
			row[0] = "all";
		else if (package != previous_package)
			row[0] = std::to_string(package);
		if (line->scope != scope::box)
			row[1] = "all";
		for (const reading &metric : metrics)
			row.push_back(cell_of(metric, line->scope, package,
					      line->box()));
		if (line->scope != scope::box)
			for (std::string &cell : row)
				cell = bold(out(), cell);
		rows.add(std::move(row));
	}
	put("\n");
	put(rows);
}

/// Print a table whose rows are metrics and whose columns are sockets.
void count_printer::put_sockets(const std::vector<reading> &metrics)
{
	const auto &packages = counts_.counters().machine().packages();
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

/// Print each reason of marked numbers once, and the errors of scaled numbers of the
/// whole machine.
void count_printer::put_remarks(const std::vector<report_line> &lines)
{
	std::vector<std::string_view> reasons;
	table scaled({{""}, {""}});

	for (const report_line &line : lines) {
		const std::string_view reason = line.counted.reason;
		const std::string scaling =
			line.scope == scope::machine ? scaling_text(line) : "";

		// Such a metric has no numbers of boxes in the tables.
		if (line.scope == scope::box &&
		    !is_by_box(*line.counted.metric))
			continue;
		if (!reason.empty() &&
		    !std::count(reasons.begin(), reasons.end(), reason))
			reasons.push_back(reason);
		if (!scaling.empty())
			scaled.add({std::string(line.counted.name), scaling});
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

// --- regions

/// Add the rows of a region: by socket, and then by event and metric.
void count_printer::add_region(const region &shown, table &rows)
{
	std::string socket;

	gather(shown);
	std::stable_sort(lines_.begin(), lines_.end(),
			 [](const report_line &a, const report_line &b) {
				 return a.counted.package <
					b.counted.package;
			 });
	for (const report_line &line : lines_) {
		const int package = line.counted.package;
		const double time = seconds(shown, line);
		const bool is_first = &line == &lines_.front();
		const std::string before = std::exchange(
			socket, package < 0 ? "all" : std::to_string(package));
		const std::string reason(line.counted.reason);

		rows.add({is_first ? shown.name : "",
			  is_first ? grouped(double(shown.calls)) : "",
			  socket == before ? "" : socket,
			  socket == before ? "" : fmt::format("{:.6f} s", time),
			  std::string(line.counted.name),
			  human(line.value, line.counted.unit),
			  rate_text(line, time),
			  reason.empty() ? scaling_text(line)
					 : yellow(out(), reason)});
	}
}

void count_printer::put_regions(const regions &counted)
{
	using align = table::align;

	table rows({{"REGION"},
		    {"CALLS", align::right},
		    {"SOCKET", align::right},
		    {"TIME", align::right},
		    {"NAME"},
		    {"VALUE", align::right},
		    {"RATE", align::right},
		    {""}});
	table too_short({{""}, {""}});

	for (const region &shown : counted.list()) {
		add_region(shown, rows);
		if (counted.is_short(shown))
			too_short.add(
				{shown.name,
				 fmt::format("{} a call",
					     human(shown.mean_length() * 1e6,
						   "\u00b5s"))});
	}
	if (rows.empty())
		return;
	put("\n");
	put(rows);
	put_notes(
		fmt::format(
			"Shorter than {:g} times the cost of a region, {}: put begin and end around more work:",
			least_length, human(counted.cost() * 1e6, "\u00b5s")),
		too_short);
}

void count_printer::show(period report_period,
			 const std::vector<report_line> &lines)
{
	if (layout_.table) {
		put("{}{}: {}  {}\n", titled_ ? "\n" : "", layout_.table->name,
		    layout_.table->question,
		    dim(out(), length_text(report_period)));
		put_table(lines);
	} else {
		put_lines(report_period, lines);
	}
	titled_ = true;
	if (report_period != period::total)
		return;

	table missing({{""}, {""}});

	for (const missing_metric &metric : counts_.missing())
		missing.add({metric.name, metric.reason});
	put_notes("Not on this machine:", missing);
	if (const regions *counted = counts_.regions())
		put_regions(*counted);
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
	else
		return save_numbers(status);
	return status;
}

int count_printer::save_numbers(int status)
{
	const auto saved = save();

	if (!saved)
		fail(saved.error());
	return saved || status != success ? status : failure;
}

} // namespace

std::unique_ptr<report> make_report(measurement &counts,
				    const number_source &numbers,
				    const count_layout &layout)
{
	return std::make_unique<count_printer>(counts, numbers, layout,
					       nullptr);
}

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

	const counter_numbers numbers(counts.counters());
	count_printer printer(counts, numbers, layout, means);
	const int status =
		counts.run([&](bool last) { return printer.print(last); });

	if (!printer.ended())
		return status;
	return means ? printer.end_run(status) : printer.save_numbers(status);
}

} // namespace cli
