// SPDX-License-Identifier: GPL-2.0-or-later
// uncore stat: counts events and metrics.
#include <cmath>
#include <memory>

#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "measure.hpp"
#include "number.hpp"

namespace cli {

namespace {

using uncore::period;
using uncore::scope;
using json = nlohmann::ordered_json;

struct stat_options {
	std::vector<std::string> events, metrics;
	run_options run;
	scope where = scope::machine;
	format form = format::human;
	std::string output;
};

/// A line of output: an event's count or a metric's value.
struct line {
	std::string_view name, box, unit;
	int package;
	bool is_metric;
	double value, error, share;
	std::chrono::nanoseconds time;
	const uncore::count *counted; ///< nullptr for a metric
};

double seconds(std::chrono::nanoseconds time)
{
	return std::chrono::duration<double>(time).count();
}

/// Prints what was measured.  What an interval needs is made before the first
/// one: the loop then only reads, formats into one buffer and writes it.
class report {
public:
	report(measurement &of, const stat_options &options, sink &to)
		: of_(of), options_(options), to_(to),
		  rows_(of.rows(options.where))
	{
		for (const event_row &row : rows_) {
			name_width_ = std::max(name_width_, row.name.size());
			box_width_ = std::max(box_width_, row.box.size());
		}
		for (const uncore::metric &m : of_.metrics())
			name_width_ =
				std::max(name_width_, m.info().name.size());
		for (const uncore::pmu &pmu : of_.machine().pmus())
			if (!of_.metrics().empty())
				box_width_ =
					std::max(box_width_, pmu.name.size());
	}

	/// @return false when the output cannot be written.
	bool print(bool last);

private:
	void add_lines(period when);
	void add(const line &one, period when);
	void add_human(const line &one);
	void add_csv(const line &one, period when);
	void begin(period when);
	void end(period when);
	json as_json(const line &one) const;

	template <class... Args>
	void put(fmt::format_string<Args...> text, Args &&...args)
	{
		fmt::format_to(std::back_inserter(buffer_), text,
			       std::forward<Args>(args)...);
	}

	/// As csv_cell(), without a string where it needs no quotes.
	void put_cell(std::string_view cell)
	{
		if (cell.find_first_of(",\"\r\n") == cell.npos)
			buffer_.append(cell);
		else
			buffer_.append(csv_cell(cell));
	}

	measurement &of_;
	const stat_options &options_;
	sink &to_;
	std::vector<event_row> rows_;
	size_t name_width_ = 5, box_width_ = 3;
	bool titled_ = false;
	fmt::memory_buffer buffer_;
	json document_;
};

void report::begin(period when)
{
	double now = seconds(of_.counts().total_time());
	double time = when == period::interval
			      ? seconds(of_.counts().interval_time())
			      : now;

	if (options_.form == format::json) {
		document_ = {{"time", now},
			     {"seconds", time},
			     {"total", when == period::total},
			     {"events", json::array()},
			     {"metrics", json::array()}};
		return;
	}
	if (options_.form == format::csv) {
		if (!titled_)
			put("time,socket,box,name,value,unit,raw,enabled_ns,"
			    "running_ns,running,error\n");
		titled_ = true;
		return;
	}
	if (when == period::total && options_.run.interval_ms)
		put("\nTotal of {:.3f} s\n", now);
	else if (when == period::total)
		put("Counted for {:.3f} s\n\n", now);
	else if (titled_)
		return;
	titled_ = true;

	std::string title;

	if (when == period::interval)
		title += fmt::format("{:>9}  ", "TIME");
	if (options_.where != scope::machine)
		title += fmt::format("{:>6}  ", "SOCKET");
	if (options_.where == scope::box)
		title += fmt::format("{:<{}}  ", "BOX", box_width_);
	title += fmt::format("{:<{}}  {:>20}", "NAME", name_width_, "VALUE");
	put("{}\n", bold(to_.file(), title));
}

void report::add_human(const line &one)
{
	if (options_.where != scope::machine)
		put("{:>6}  ", one.package < 0
				       ? ""
				       : fmt::format_int(one.package).c_str());
	if (options_.where == scope::box)
		put("{:<{}}  ", one.box, box_width_);

	std::string text = human(one.value, one.unit);

	if (one.counted && !one.counted->running.count())
		text = "not counted";
	put("{:<{}}  {:>20}", one.name, name_width_, text);
	if (one.share < 1 && std::isfinite(one.value)) {
		double part = one.value ? std::fabs(one.error / one.value) : 0;

		put("  \u00b1{:.2f} %, counted {} of the time", 100 * part,
		    percent(one.share));
	}
	put("\n");
}

/// As csv_line() does it, but without a string for each cell.
void report::add_csv(const line &one, period when)
{
	if (when == period::total && options_.run.interval_ms)
		put("total,");
	else
		put("{:.6f},", seconds(of_.counts().total_time()));
	if (one.package >= 0)
		put("{}", one.package);
	put(",{},", one.box);
	put_cell(one.name);
	put(",");
	if (std::isfinite(one.value))
		put("{}", one.value);
	put(",");
	put_cell(one.unit);
	put(",");
	if (one.counted)
		put("{},{},{}", one.counted->raw, one.counted->enabled.count(),
		    one.counted->running.count());
	else
		put(",,");
	put(",{},", one.share);
	if (std::isfinite(one.error))
		put("{}", one.error);
	put("\n");
}

/// nlohmann writes what is not a number as null.
json report::as_json(const line &one) const
{
	json entry = {{one.is_metric ? "metric" : "event", one.name}};

	if (one.package >= 0)
		entry["socket"] = one.package;
	if (!one.box.empty())
		entry["box"] = one.box;
	entry["value"] = one.value;
	entry["unit"] = one.unit;
	if (one.counted) {
		entry["raw"] = one.counted->raw;
		entry["enabled_ns"] = one.counted->enabled.count();
		entry["running_ns"] = one.counted->running.count();
	} else {
		entry["seconds"] = seconds(one.time);
	}
	entry["running"] = one.share;
	entry["error"] = one.error;
	return entry;
}

void report::add(const line &one, period when)
{
	switch (options_.form) {
	case format::human:
		if (when == period::interval)
			put("{:>9.3f}  ", seconds(of_.counts().total_time()));
		add_human(one);
		break;
	case format::csv:
		add_csv(one, when);
		break;
	case format::json:
		document_[one.is_metric ? "metrics" : "events"].push_back(
			as_json(one));
		break;
	}
}

void report::add_lines(period when)
{
	for (const event_row &row : rows_) {
		uncore::count counted = row.read(of_.counts(), when);

		add({row.name,
		     row.box,
		     row.kind->unit,
		     row.package,
		     false,
		     counted.value,
		     counted.error,
		     counted.share(),
		     {},
		     &counted},
		    when);
	}
	for (const uncore::metric &m : of_.metrics())
		for (const uncore::metric_value &v :
		     m.evaluate(of_.counts(), when, options_.where))
			add({m.info().name,
			     v.pmu ? std::string_view(v.pmu->name) : "",
			     m.info().unit, v.package, true, v.value, v.error,
			     v.share, v.time, nullptr},
			    when);
}

void report::end(period when)
{
	if (options_.form == format::json) {
		json missing = json::array();

		for (const missing_metric &m : of_.missing())
			missing.push_back({{"metric", m.info->name},
					   {"reason", m.reason}});
		document_["unavailable"] = std::move(missing);
		put("{}\n", document_.dump(options_.run.interval_ms ? -1 : 2));
		return;
	}
	if (options_.form == format::human && when == period::total)
		for (const missing_metric &m : of_.missing())
			put("{}\n", dim(to_.file(),
					fmt::format("{}: not on this machine: "
						    "{}",
						    m.info->name, m.reason)));
}

bool report::print(bool last)
{
	buffer_.clear();
	for (period when : {period::interval, period::total}) {
		if (when == period::interval && !options_.run.interval_ms)
			continue;
		if (when == period::total && !last)
			continue;
		begin(when);
		add_lines(when);
		end(when);
	}
	return to_.write({buffer_.data(), buffer_.size()});
}

uncore::result<void> add_metrics(measurement &to, const std::string &names)
{
	auto found = find_metrics(to.machine(), names);

	if (!found)
		return found.error();
	for (const auto *info : *found)
		to.add_metric(*info);
	return {};
}

int stat(const context &shared, const stat_options &options)
{
	if (options.events.empty() && options.metrics.empty())
		return fail_usage("nothing to count: give events (-e) or "
				  "metrics (-M); uncore list shows them");

	auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return fail(machine.error());

	measurement wanted(*std::move(machine));
	sink to;

	for (const std::string &text : options.events)
		if (auto added = wanted.add_events(text); !added)
			return fail(added.error());
	for (const std::string &names : options.metrics)
		if (auto added = add_metrics(wanted, names); !added)
			return fail(added.error());
	if (wanted.empty())
		return fail(fmt::format("{}: {}",
					wanted.missing().front().info->name,
					wanted.missing().front().reason));
	if (auto opened = to.open(options.output); !opened)
		return fail(opened.error());
	if (auto opened = wanted.open(); !opened)
		return fail(opened.error());

	report printer(wanted, options, to);

	return wanted.run(options.run,
			  [&](bool last) { return printer.print(last); });
}

} // namespace

void add_stat(CLI::App &app, context &shared)
{
	auto options = std::make_shared<stat_options>();
	CLI::App *command = add_command(
		app, shared, "stat", "Count events and metrics",
		[options, &shared] { return stat(shared, *options); });

	command->add_option("-e,--event", options->events,
			    "Events to count, as perf writes them")
		->allow_extra_args(false)
		->type_name("EVENT,...");
	command->add_option("-M,--metrics", options->metrics,
			    "Metrics, or a group of them")
		->allow_extra_args(false)
		->type_name("METRIC,...");
	add_run_options(*command, options->run);
	add_scope(*command, options->where);
	add_format(*command, options->form);
	command->add_option("-o,--output", options->output,
			    "Write to a file, not to standard output")
		->type_name("FILE");
}

} // namespace cli
