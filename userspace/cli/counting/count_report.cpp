// SPDX-License-Identifier: GPL-2.0-or-later
// Reports of stat and metric for programs.
#include "counting/count_report.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "counting/count_text.hpp"
#include "output/csv.hpp"
#include "output/document.hpp"
#include "output/number.hpp"
#include "output/table.hpp"
#include "process/output_file.hpp"
#include "terminal/text.hpp"

namespace cli {

using uncore::period;
using uncore::scope;
using json = nlohmann::ordered_json;

static double in_seconds(std::chrono::nanoseconds time)
{
	return std::chrono::duration<double>(time).count();
}

static const char *word_of(scope line_scope)
{
	return line_scope == scope::box	      ? "box"
	       : line_scope == scope::package ? "socket"
					      : "machine";
}

std::string error_text(double value, double error, std::string_view unit)
{
	if (std::isnan(error))
		return "\u00b1 unknown";
	if (value == 0 && error != 0)
		return "\u00b1" + human(error, unit);
	return fmt::format("\u00b1{:.2f} %",
			   value ? 100 * std::fabs(error / value) : 0.0);
}

/// Update the means, and the sums of squares for the errors, by Welford's method.
void run_means::add(const std::vector<report_line> &lines, double seconds)
{
	numbers_.resize(lines.size());
	runs_++;
	seconds_ = seconds;
	for (size_t i = 0; i < lines.size(); i++) {
		const report_line &line = lines[i];
		number &sum = numbers_[i];
		const double step = line.value - sum.mean;

		sum.mean += step / runs_;
		sum.squares += step * (line.value - sum.mean);
		sum.scaling += line.scaling_error * line.scaling_error;
		sum.running += (line.running - sum.running) / runs_;
		sum.share += (line.share - sum.share) / runs_;
	}
}

void run_means::put_into(std::vector<report_line> &lines) const
{
	for (size_t i = 0; i < std::min(lines.size(), numbers_.size()); i++) {
		lines[i].value = numbers_[i].mean;
		lines[i].error =
			runs_ > 1 ? std::sqrt(numbers_[i].squares /
					      (double(runs_) * (runs_ - 1)))
				  : std::nan("");
		lines[i].scaling_error = std::sqrt(numbers_[i].scaling) / runs_;
		lines[i].running = numbers_[i].running;
		lines[i].share = numbers_[i].share;
	}
}

double report::seconds(period report_period) const
{
	return means_ ? means_->seconds() : numbers_.seconds(report_period);
}

static void sort(std::vector<report_line> &lines)
{
	std::stable_sort(lines.begin(), lines.end(),
			 [](const report_line &a, const report_line &b) {
				 return a.counted.index < b.counted.index;
			 });
}

/// Collect the lines of a report, sorted by event or metric and then by scope.  Events
/// have lines in the first scope only.
void report::gather(period report_period)
{
	lines_.clear();
	for (const scope line_scope : scopes_)
		for (report_line &line :
		     numbers_.lines(line_scope, report_period))
			if (line.counted.metric ||
			    (!options_.metric_only &&
			     line_scope == scopes_.front()))
				lines_.push_back(std::move(line));
	sort(lines_);
}

/// Collect the lines of a region: of the sockets on which the region was counted.
void report::gather(const region &shown)
{
	const std::vector<int> &sockets = counts_.regions()->sockets();

	lines_.clear();
	counts_.regions()->show(shown);
	for (report_line &line :
	     numbers_.lines(scope::package, period::interval)) {
		const int package = line.counted.package;
		const size_t i =
			std::find(sockets.begin(), sockets.end(), package) -
			sockets.begin();

		if (package < 0 ||
		    (i < sockets.size() && shown.places[i].counted))
			if (line.counted.metric || !options_.metric_only)
				lines_.push_back(std::move(line));
	}
	sort(lines_);
}

double report::seconds(const region &shown, const report_line &line) const
{
	const std::vector<int> &sockets = counts_.regions()->sockets();

	for (size_t i = 0; i < sockets.size(); i++)
		if (sockets[i] == line.counted.package)
			return in_seconds(shown.places[i].time);
	return in_seconds(shown.time());
}

/// Collect the lines for the file of --save: events and metrics of each socket
/// and of the machine.
void report::gather_saved()
{
	lines_.clear();
	for (const scope line_scope : {scope::package, scope::machine})
		for (report_line &line :
		     numbers_.lines(line_scope, period::total))
			lines_.push_back(std::move(line));
	sort(lines_);
}

/// Append a cell to the output as csv_cell() does, but without a temporary string for
/// a cell without quotes and line breaks.
void report::put_cell(std::string_view cell)
{
	if (cell.find_first_of(",\"\r\n" + separator_) == cell.npos)
		buffer_.append(cell);
	else if (cell.find_first_of(",\"\r\n") == cell.npos)
		put("\"{}\"", cell);
	else
		buffer_.append(csv_cell(cell));
}

/// Put a line's row, without the columns of a region.
void report::put_csv(const report_line &line, const std::string &time)
{
	const std::string &sep = separator_;
	const counted_number &counted = line.counted;

	put("{}{}{}{}", time, sep, word_of(line.scope), sep);
	if (counted.package >= 0)
		put("{}", counted.package);
	put("{}{}{}", sep, line.box(), sep);
	put_cell(counted.name);
	put("{}", sep);
	if (!numbers_.tasks_key().empty()) {
		put_cell(printable(line.tasks.name));
		put("{}", sep);
	}
	if (std::isfinite(line.value))
		put("{}", line.value);
	put("{}", sep);
	put_cell(counted.unit);
	if (counted.metric)
		put("{}{}{}", sep, sep, sep);
	else
		put("{}{}{}{}{}{}", sep, counted.raw, sep,
		    counted.enabled.count(), sep, counted.running.count());
	put("{}{}{}", sep, counted.share, sep);
	if (std::isfinite(line.error))
		put("{}", line.error);
	put("{}", sep);
	put_cell(counted.reason);
	put("\n");
}

void report::put_csv(period report_period)
{
	std::vector<std::string_view> titles = {
		"time",	   "scope", "socket", "pmu",	    "name",
		"value",   "unit",  "raw",    "enabled_ns", "running_ns",
		"running", "error", "reason"};

	if (!numbers_.tasks_key().empty())
		titles.insert(std::find(titles.begin(), titles.end(), "value"),
			      numbers_.tasks_key());
	const regions *const counted = counts_.regions();
	const bool is_total = report_period == period::total && has_intervals();

	if (!titled_ && counted)
		put("region{}calls{}", separator_, separator_);
	if (!titled_)
		put("{}\n", fmt::join(titles, separator_));
	titled_ = true;
	for (const report_line &line : lines_) {
		if (counted)
			put("{}{}", separator_, separator_);
		put_csv(line,
			is_total ? "total" : fmt::format("{:.6f}", now()));
	}
	if (counted && report_period == period::total)
		for (const region &shown : counted->list())
			put_csv(shown);
}

void report::put_csv(const region &shown)
{
	gather(shown);
	for (const report_line &line : lines_) {
		put_cell(shown.name);
		put("{}{}{}", separator_, shown.calls, separator_);
		put_csv(line, fmt::format("{:.6f}", seconds(shown, line)));
	}
}

/// Convert a line; nlohmann writes a value that is not a number as null.
static json as_json(const report_line &line, std::string_view tasks_key,
		    bool is_mean)
{
	const counted_number &counted = line.counted;
	json entry = {{counted.metric ? "metric" : "event", counted.name},
		      {"scope", word_of(line.scope)}};

	if (!line.tasks.name.empty())
		entry[tasks_key] = line.tasks.name;
	if (counted.package >= 0)
		entry["socket"] = counted.package;
	if (counted.pmu)
		entry["pmu"] = counted.pmu->name;
	entry["value"] = line.value;
	entry["unit"] = counted.unit;
	if (counted.metric) {
		entry["seconds"] = in_seconds(counted.enabled);
	} else {
		entry["raw"] = counted.raw;
		entry["enabled_ns"] = counted.enabled.count();
		entry["running_ns"] = counted.running.count();
	}
	entry["running"] = counted.share;
	entry["error"] = line.error;
	if (is_mean)
		entry["multiplexing_error"] = line.scaling_error;
	if (none_seen(line) && !counted.metric)
		entry["upper_bound"] = upper_bound(line);
	if (!counted.reason.empty())
		entry["reason"] = counted.reason;
	return entry;
}

json report::as_document(period report_period) const
{
	json document = begin_document(set_.empty() ? "stat" : "metric",
				       &counts_.counters().machine());
	json missing = json::array();

	if (!set_.empty())
		document["set"] = set_;
	document["time"] = now();
	document["seconds"] = seconds(report_period);
	document["total"] = report_period == period::total;
	if (means_)
		document["runs"] = means_->runs();
	numbers_.add_to(document);
	document["events"] = json::array();
	document["metrics"] = json::array();
	for (const report_line &line : lines_)
		document[line.counted.metric ? "metrics" : "events"]
			.push_back(
				as_json(line, numbers_.tasks_key(), means_));
	for (const missing_metric &metric : counts_.missing())
		missing.push_back(
			{{"metric", metric.name}, {"reason", metric.reason}});
	document["unavailable"] = std::move(missing);
	return document;
}

json report::as_document(const region &shown)
{
	const regions &counted = *counts_.regions();
	json document = {{"region", shown.name},
			 {"calls", shown.calls},
			 {"unclosed", shown.unclosed},
			 {"mean_seconds", shown.mean_length()},
			 {"cost_seconds", counted.cost()},
			 {"short", counted.is_short(shown)},
			 {"sockets", json::array()},
			 {"events", json::array()},
			 {"metrics", json::array()}};

	gather(shown);
	for (size_t i = 0; i < shown.places.size(); i++)
		if (shown.places[i].counted)
			document["sockets"].push_back(
				{{"socket", counted.sockets()[i]},
				 {"seconds",
				  in_seconds(shown.places[i].time)}});
	for (const report_line &line : lines_)
		document[line.counted.metric ? "metrics" : "events"]
			.push_back(
				as_json(line, numbers_.tasks_key(), false));
	return document;
}

void report::put_json(period report_period)
{
	json document = as_document(report_period);

	if (const regions *counted = counts_.regions();
	    counted && report_period == period::total) {
		document["regions"] = json::array();
		for (const region &shown : counted->list())
			document["regions"].push_back(as_document(shown));
	}
	put("{}", document_line(std::move(document)));
}

void report::put_arguments(fmt::string_view text, fmt::format_args arguments)
{
	fmt::vformat_to(std::back_inserter(buffer_), text, arguments);
}

void report::put(const table &rows)
{
	for (const std::string &line : rows.lines(out()))
		put("{}\n", line);
}

/// Return the socket of a number.  duration_time has no socket; perf reads it on the
/// first socket.
static const uncore::package &socket_of(const counted_number &counted,
					const uncore::topology &machine)
{
	for (const uncore::package &package : machine.packages())
		if (package.id == counted.package)
			return package;
	return machine.packages().front();
}

/// Return the CPUs of a socket that count an event: one CPU for a box's event.
static std::vector<int> counting_cpus(const uncore::event *event,
				      const uncore::package &socket,
				      const uncore::topology &machine)
{
	if (!event || event->type == uncore::event::duration_time)
		return {socket.cpus.front()};
	if (event->pmu)
		for (const int cpu : event->pmu->cpus)
			if (machine.package_of(cpu) == socket.id)
				return {cpu};
	return socket.cpus;
}

/// Return the row of perf stat for a line, without the time of an interval.
perf_row report::perf_row_of(const report_line &line) const
{
	const uncore::topology &machine = counts_.counters().machine();
	const uncore::package &socket = socket_of(line.counted, machine);
	const uncore::event *event = line.counted.event;
	const std::vector<int> cpus = counting_cpus(event, socket, machine);
	perf_row row;

	row.metric = line.counted.metric;
	row.unit = line.counted.unit;
	row.value = line.value;
	row.error = line.error;
	row.scale = event ? event->scale : 1;
	row.running = line.running;
	row.share = line.share;
	row.place = options_.place;
	row.number = cpus.front();
	row.cpus = cpus.size();
	row.repeated = means_;
	if (row.place == perf_place::socket)
		row.number = socket.id;
	else if (row.place == perf_place::node)
		row.number = counts_.node_of(cpus.front());
	if (!numbers_.tasks_key().empty())
		row.tasks = {numbers_.tasks_key(), std::string(line.tasks.name)};
	row.name = line.counted.name;
	if (const uncore::pmu_info *pmu = line.counted.pmu)
		row.name = perf_name(row.name, pmu->name);
	return row;
}

/// Print the first lines of a file as perf stat -o does, also before JSON.
void report::put_perf_start()
{
	if (!titled_ && !options_.output.empty())
		put("{}", perf_start());
	titled_ = true;
}

void report::put_perf(period report_period)
{
	put_perf_start();
	if (options_.place == perf_place::socket ||
	    options_.place == perf_place::node)
		std::stable_sort(
			lines_.begin(), lines_.end(),
			[](const report_line &a, const report_line &b) {
				return std::max(a.counted.package, 0) <
				       std::max(b.counted.package, 0);
			});
	for (const report_line &line : lines_) {
		perf_row row = perf_row_of(line);

		if (report_period == period::interval)
			row.time = std::chrono::nanoseconds(
				int64_t(numbers_.seconds(period::total) * 1e9));
		row.summary = report_period == period::total && has_intervals();
		put("{}", options_.perf_json ? perf_json(row)
					     : perf_csv(row, separator_));
	}
}

void report::put(period report_period)
{
	if (options_.as_perf())
		return put_perf(report_period);
	switch (options_.form) {
	case format::human:
		show(report_period, lines_);
		break;
	case format::csv:
		put_csv(report_period);
		break;
	case format::json:
		put_json(report_period);
		break;
	}
}

bool report::write()
{
	const std::string_view text(buffer_.data(), buffer_.size());

	if (options_.form == format::human && !options_.as_perf())
		return counts_.output().show(text);
	return counts_.output().write(text);
}

bool report::print(bool last)
{
	ended_ = last;
	if (means_)
		return true;
	buffer_.clear();
	for (period report_period : {period::interval, period::total}) {
		if (report_period == period::interval && !has_intervals())
			continue;
		if (report_period == period::total && !last)
			continue;
		if (report_period == period::total && has_intervals() &&
		    options_.as_perf() && !options_.summary)
			continue;
		gather(report_period);
		put(report_period);
	}
	return write();
}

void report::add_run()
{
	const double seconds = numbers_.seconds(period::total);

	gather(period::total);
	means_->add(lines_, seconds);
	if (options_.save.empty())
		return;
	gather_saved();
	means_->saved().add(lines_, seconds);
}

uncore::result<void> report::save()
{
	if (options_.save.empty())
		return {};

	auto file = output_file::create(options_.save, 0666);

	if (!file)
		return file.error();
	gather_saved();
	if (means_)
		means_->saved().put_into(lines_);
	file->write(document_line(as_document(period::total)));
	return file->commit();
}

bool report::print_means()
{
	buffer_.clear();
	gather(period::total);
	means_->put_into(lines_);
	put(period::total);
	return write();
}

} // namespace cli
