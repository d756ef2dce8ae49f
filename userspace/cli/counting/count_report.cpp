// SPDX-License-Identifier: GPL-2.0-or-later
// What stat and metric print, for programs.
#include "counting/count_report.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "output/csv.hpp"
#include "output/document.hpp"
#include "output/table.hpp"

namespace cli {

using uncore::period;
using uncore::scope;
using json = nlohmann::ordered_json;

static double in_seconds(std::chrono::nanoseconds time)
{
	return std::chrono::duration<double>(time).count();
}

static const char *word_of(scope where)
{
	return where == scope::box	 ? "box"
	       : where == scope::package ? "socket"
					 : "machine";
}

std::string error_text(const report_line &one)
{
	if (std::isnan(one.error))
		return "\u00b1 unknown";
	return fmt::format("\u00b1{:.2f} %",
			   one.value ? 100 * std::fabs(one.error / one.value)
				     : 0.0);
}

void run_means::add(const std::vector<report_line> &lines)
{
	numbers_.resize(lines.size());
	done_++;
	for (size_t i = 0; i < lines.size(); i++) {
		const double step = lines[i].value - numbers_[i].mean;

		numbers_[i].mean += step / done_;
		numbers_[i].squares += step * (lines[i].value - numbers_[i].mean);
	}
}

void run_means::put_into(std::vector<report_line> &lines) const
{
	for (size_t i = 0; i < lines.size(); i++) {
		lines[i].value = numbers_[i].mean;
		lines[i].error =
			done_ > 1 ? std::sqrt(numbers_[i].squares /
					      (double(done_) * (done_ - 1)))
				  : std::nan("");
	}
}

report::report(measurement &of, const report_options &options, sink &to)
	: of_(of), options_(options), to_(to),
	  rows_(options.metric_only ? std::vector<event_row>()
				    : of.rows(options.scopes.front()))
{
	for (scope where : options_.scopes)
		of_.watch_metrics(where);
}

double report::seconds(period when) const
{
	return in_seconds(when == period::interval
				  ? of_.counts().interval_time()
				  : of_.counts().total_time());
}

void report::gather(period when)
{
	lines_.clear();
	for (const event_row &row : rows_) {
		const uncore::count counted = row.read(of_.counts(), when);

		lines_.push_back({row.name,
				  row.box,
				  row.kind->unit,
				  options_.scopes.front(),
				  row.package,
				  nullptr,
				  counted.value,
				  counted.error,
				  counted.share(),
				  {},
				  counted,
				  row.reason(of_.counts(), when)});
	}
	for (const uncore::metric &m : of_.metrics())
		for (scope where : options_.scopes)
			for (const uncore::metric_value &v :
			     m.evaluate(of_.counts(), when, where))
				lines_.push_back(
					{m.info().name,
					 v.pmu ? std::string_view(v.pmu->name)
					       : "",
					 m.info().unit,
					 where,
					 v.package,
					 &m.info(),
					 v.value,
					 v.error,
					 v.share,
					 v.time,
					 {},
					 v.reason});
}

/// As csv_cell(), without a string where it needs no quotes.
void report::put_cell(std::string_view cell)
{
	if (cell.find_first_of(",\"\r\n" + options_.separator) == cell.npos)
		buffer_.append(cell);
	else if (cell.find_first_of(",\"\r\n") == cell.npos)
		put("\"{}\"", cell);
	else
		buffer_.append(csv_cell(cell));
}

void report::put_csv(const report_line &one, bool total)
{
	const std::string &sep = options_.separator;

	if (total)
		put("total{}", sep);
	else
		put("{:.6f}{}", now(), sep);
	put("{}{}", word_of(one.where), sep);
	if (one.package >= 0)
		put("{}", one.package);
	put("{}{}{}", sep, one.box, sep);
	put_cell(one.name);
	put("{}", sep);
	if (std::isfinite(one.value))
		put("{}", one.value);
	put("{}", sep);
	put_cell(one.unit);
	if (one.metric)
		put("{}{}{}", sep, sep, sep);
	else
		put("{}{}{}{}{}{}", sep, one.counted.raw, sep,
		    one.counted.enabled.count(), sep,
		    one.counted.running.count());
	put("{}{}{}", sep, one.share, sep);
	if (std::isfinite(one.error))
		put("{}", one.error);
	put("{}", sep);
	put_cell(one.reason);
	put("\n");
}

void report::put_csv(period when)
{
	static constexpr const char *titles[] = {
		"time",	   "scope", "socket", "pmu",	    "name",
		"value",   "unit",  "raw",    "enabled_ns", "running_ns",
		"running", "error", "reason"};

	if (!titled_)
		put("{}\n", fmt::join(titles, options_.separator));
	titled_ = true;
	for (const report_line &one : lines_)
		put_csv(one, when == period::total && options_.intervals);
}

/// nlohmann writes what is not a number as null.
static json as_json(const report_line &one)
{
	json entry = {{one.metric ? "metric" : "event", one.name},
		      {"scope", word_of(one.where)}};

	if (one.package >= 0)
		entry["socket"] = one.package;
	if (!one.box.empty())
		entry["pmu"] = one.box;
	entry["value"] = one.value;
	entry["unit"] = one.unit;
	if (one.metric) {
		entry["seconds"] = in_seconds(one.time);
	} else {
		entry["raw"] = one.counted.raw;
		entry["enabled_ns"] = one.counted.enabled.count();
		entry["running_ns"] = one.counted.running.count();
	}
	entry["running"] = one.share;
	entry["error"] = one.error;
	if (!one.reason.empty())
		entry["reason"] = one.reason;
	return entry;
}

void report::put_json(period when)
{
	json document = begin_document(
		options_.set.empty() ? "stat" : "metric", &of_.machine());
	json missing = json::array();

	if (!options_.set.empty())
		document["set"] = options_.set;
	document["time"] = now();
	document["seconds"] = seconds(when);
	document["total"] = when == period::total;
	if (options_.means)
		document["runs"] = options_.means->runs();
	document["events"] = json::array();
	document["metrics"] = json::array();
	for (const report_line &one : lines_)
		document[one.metric ? "metrics" : "events"].push_back(
			as_json(one));
	for (const missing_metric &m : of_.missing())
		missing.push_back(
			{{"metric", m.info->name}, {"reason", m.reason}});
	document["unavailable"] = std::move(missing);
	put("{}", document_line(document));
}

void report::put_arguments(fmt::string_view text, fmt::format_args arguments)
{
	fmt::vformat_to(std::back_inserter(buffer_), text, arguments);
}

void report::put(const table &rows)
{
	for (const std::string &line : rows.lines(to_.file()))
		put("{}\n", line);
}

bool report::print(bool last)
{
	buffer_.clear();
	for (period when : {period::interval, period::total}) {
		if (when == period::interval && !options_.intervals)
			continue;
		if (when == period::total && !last)
			continue;
		gather(when);
		if (options_.means) {
			options_.means->add(lines_);
			if (!options_.means->complete())
				return true;
			options_.means->put_into(lines_);
		}
		switch (options_.form) {
		case format::human:
			show(when, lines_);
			break;
		case format::csv:
			put_csv(when);
			break;
		case format::json:
			put_json(when);
			break;
		}
	}

	const std::string_view text(buffer_.data(), buffer_.size());

	if (options_.form == format::human)
		return to_.show(text);
	return to_.write(text);
}

} // namespace cli
