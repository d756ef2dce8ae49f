// SPDX-License-Identifier: GPL-2.0-or-later
// uncore metric: a set of metrics that answers one question, as a table.
#include <algorithm>
#include <cmath>
#include <memory>

#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "measure.hpp"
#include "number.hpp"

namespace cli {

namespace {

using uncore::metric_value;
using uncore::period;
using uncore::scope;
using json = nlohmann::ordered_json;

/// A metric that a set leads with, and its column's title in a table of boxes.
struct lead {
	const char *metric, *title;
};

/// The metrics that answer a set's question first.
struct metric_set {
	const char *name, *question;
	/// Shown for each box.
	std::vector<lead> by_box;
	/// Shown for each socket.
	std::vector<const char *> by_socket;
};

const metric_set sets[] = {
	{"memory",
	 "How busy is memory, and which channel?",
	 {{"mem_bw_reads_rate", "READ"},
	  {"mem_bw_writes_rate", "WRITE"},
	  {"mem_bw_total_rate", "TOTAL"},
	  {"pct_requests_page_hit", "PAGE HITS"}},
	 {}},
	{"llc",
	 "What misses the last-level cache, and how long does that take?",
	 {},
	 {"llc_drd_miss_pct", "llc_rfo_miss_pct", "avg_tor_drd_latency_ns",
	  "avg_tor_drd_miss_latency_ns", "avg_tor_drd_loc_miss_latency_ns",
	  "avg_tor_drd_rem_miss_latency_ns"}},
	{"qpi",
	 "How busy are the links between sockets?",
	 {{"qpi_link_util", "UTILIZATION"},
	  {"qpi_data_bw_rate", "DATA SENT"},
	  {"qpi_link_bw_rate", "WITH OVERHEAD"},
	  {"qpi_speed", "SPEED"}},
	 {}},
	{"power",
	 "What holds the frequency back, and what sleeps?",
	 {},
	 {"pct_cyc_freq_power_ltd", "pct_cyc_freq_thermal_ltd",
	  "pct_cyc_freq_os_ltd", "pct_cycles_ppd", "pct_cycles_self_refresh",
	  "pct_link_full_power_cycles", "pct_link_half_disabled_cycles",
	  "pct_link_shutdown_cycles"}},
	{"pcie",
	 "What do devices read and write?",
	 {},
	 {"io_read_bw_rate", "io_write_bw_rate", "pci_reads", "pci_writes",
	  "partial_pci_writes", "r2pcie_cyc_used_up", "r2pcie_cyc_used_dn"}},
	{"io",
	 "What do devices and the cores' device registers cost?",
	 {},
	 {"io_read_bw_rate", "io_write_bw_rate", "mmio_partial_reads_cpu",
	  "mmio_writes_cpu"}},
	{"ring",
	 "How full are the rings?",
	 {},
	 {"cbox_cyc_used_up", "cbox_cyc_used_dn", "cyc_used_upeven",
	  "cyc_used_upodd", "cyc_used_dneven", "cyc_used_dnodd",
	  "r2pcie_cyc_used_up", "r2pcie_cyc_used_dn"}},
};

struct metric_options {
	std::string set;
	bool all = false, per_box = false;
	run_options run;
	format form = format::human;
};

std::string set_names()
{
	std::string names;

	for (const metric_set &set : sets)
		names += fmt::format("{}{}", names.empty() ? "" : ", ",
				     set.name);
	return names;
}

const char *title_of(const metric_set &set, std::string_view metric)
{
	for (const lead &l : set.by_box)
		if (metric == l.metric)
			return l.title;
	return nullptr;
}

std::string shown(const metric_value &v, const uncore::metric &of)
{
	return human(v.value, of.info().unit);
}

/// A metric's numbers at one moment, for all places.
struct reading {
	const uncore::metric *metric;
	std::vector<metric_value> boxes, packages;
	metric_value machine;
};

class printer {
public:
	printer(measurement &of, const metric_set &set,
		const metric_options &options)
		: of_(of), set_(set), options_(options)
	{
	}

	bool print(bool last);

private:
	std::vector<reading> read(period when) const;
	void print_human(const std::vector<reading> &all, period when);
	void print_boxes(const std::vector<const reading *> &of) const;
	void print_sockets(const std::vector<const reading *> &of) const;
	void print_turns(const std::vector<reading> &all) const;
	void print_missing() const;
	void print_csv(const std::vector<reading> &all, period when);
	void print_json(const std::vector<reading> &all, period when) const;

	measurement &of_;
	const metric_set &set_;
	const metric_options &options_;
	bool titled_ = false;
};

std::vector<reading> printer::read(period when) const
{
	std::vector<reading> all;

	for (const uncore::metric &m : of_.metrics()) {
		auto whole = m.evaluate(of_.counts(), when, scope::machine);

		all.push_back({&m, m.evaluate(of_.counts(), when, scope::box),
			       m.evaluate(of_.counts(), when, scope::package),
			       whole.front()});
	}
	return all;
}

/// Rows are boxes, columns metrics of one box type.
void printer::print_boxes(const std::vector<const reading *> &of) const
{
	std::vector<table::column> columns{{"SOCKET"}, {"BOX"}};

	for (const reading *r : of) {
		const char *title = title_of(set_, r->metric->info().name);

		columns.push_back(
			{title ? title : std::string(r->metric->info().name),
			 table::align::right});
	}

	table out(columns);
	const auto &boxes = of.front()->boxes;
	int package = -1;

	for (size_t i = 0; i < boxes.size(); i++) {
		std::vector<std::string> row{"", boxes[i].pmu->name};

		if (boxes[i].package != package)
			row[0] = std::to_string(boxes[i].package);
		package = boxes[i].package;
		for (const reading *r : of)
			row.push_back(shown(r->boxes[i], *r->metric));
		out.add(std::move(row));
		if (i + 1 < boxes.size() && boxes[i + 1].package == package)
			continue;
		row = {"", bold(stdout, "all")};
		for (const reading *r : of)
			for (const metric_value &v : r->packages)
				if (v.package == package)
					row.push_back(bold(
						stdout, shown(v, *r->metric)));
		out.add(std::move(row));
	}

	std::vector<std::string> row{bold(stdout, "all"), bold(stdout, "all")};

	for (const reading *r : of)
		row.push_back(bold(stdout, shown(r->machine, *r->metric)));
	out.add(std::move(row));
	out.print(stdout);
}

/// Rows are metrics, columns sockets.
void printer::print_sockets(const std::vector<const reading *> &of) const
{
	std::vector<table::column> columns{{"METRIC"}};

	for (const uncore::package &p : of_.machine().packages())
		columns.push_back(
			{fmt::format("SOCKET {}", p.id), table::align::right});
	columns.push_back({"ALL", table::align::right});
	columns.push_back({"", table::align::left});

	table out(columns);

	for (const reading *r : of) {
		std::vector<std::string> row{
			std::string(r->metric->info().name)};

		for (const uncore::package &p : of_.machine().packages()) {
			std::string text = "-";

			for (const metric_value &v : r->packages)
				if (v.package == p.id)
					text = shown(v, *r->metric);
			row.push_back(text);
		}
		row.push_back(bold(stdout, shown(r->machine, *r->metric)));
		row.push_back(dim(stdout, r->metric->info().description));
		out.add(std::move(row));
	}
	out.print(stdout);
}

/// What did not fit the counters at once, and what that makes of the numbers.
void printer::print_turns(const std::vector<reading> &all) const
{
	table out({{""}, {"", table::align::right}, {""}});
	bool any = false;

	for (const reading &r : all) {
		const metric_value &v = r.machine;

		if (v.share >= 1)
			continue;
		any = true;
		out.add({std::string(r.metric->info().name), percent(v.share),
			 std::isfinite(v.value) && v.value
				 ? fmt::format(
					   "\u00b1{:.2f} %",
					   100 * std::fabs(v.error / v.value))
				 : ""});
	}
	if (!any)
		return;
	fmt::print("\n{}\n",
		   yellow(stdout,
			  "Multiplexed, for lack of counters; counted this "
			  "part of the time:"));
	out.print(stdout);
}

void printer::print_missing() const
{
	if (of_.missing().empty())
		return;
	fmt::print("\n{}\n", yellow(stdout, "Not on this machine:"));

	table out({{""}, {""}});

	for (const missing_metric &m : of_.missing())
		out.add({std::string(m.info->name), m.reason});
	out.print(stdout);
}

void printer::print_human(const std::vector<reading> &all, period when)
{
	auto time = std::chrono::duration<double>(
		when == period::total ? of_.counts().total_time()
				      : of_.counts().interval_time());
	std::vector<const reading *> plain;
	std::vector<std::pair<std::string_view, std::vector<const reading *>>>
		boxed;

	for (const reading &r : all) {
		const auto &info = r.metric->info();

		if (!options_.per_box && !title_of(set_, info.name)) {
			plain.push_back(&r);
			continue;
		}
		if (boxed.empty() || boxed.back().first != info.box)
			boxed.push_back({info.box, {}});
		boxed.back().second.push_back(&r);
	}
	fmt::print("{}{}: {}  {}\n", titled_ ? "\n" : "", set_.name,
		   set_.question,
		   dim(stdout,
		       fmt::format("{}{:.3f} s",
				   when == period::total ? "all " : "last ",
				   time.count())));
	titled_ = true;
	for (auto &[box, readings] : boxed) {
		fmt::print("\n");
		print_boxes(readings);
	}
	if (!plain.empty()) {
		fmt::print("\n");
		print_sockets(plain);
	}
	print_turns(all);
	if (when == period::total)
		print_missing();
}

void printer::print_csv(const std::vector<reading> &all, period when)
{
	if (!titled_)
		fmt::print("time,scope,socket,box,metric,value,unit,running,"
			   "error\n");
	titled_ = true;

	std::string time =
		when == period::total && options_.run.interval_ms
			? "total"
			: fmt::format("{:.6f}",
				      std::chrono::duration<double>(
					      of_.counts().total_time())
					      .count());
	auto add = [&](const reading &r, const char *where,
		       const metric_value &v) {
		fmt::print("{}",
			   csv_line({time, where,
				     v.package < 0 ? ""
						   : std::to_string(v.package),
				     v.pmu ? v.pmu->name : "",
				     std::string(r.metric->info().name),
				     exact(v.value),
				     std::string(r.metric->info().unit),
				     exact(v.share), exact(v.error)}));
	};

	for (const reading &r : all) {
		for (const metric_value &v : r.boxes)
			add(r, "box", v);
		for (const metric_value &v : r.packages)
			add(r, "socket", v);
		add(r, "machine", r.machine);
	}
}

json entry_of(const reading &r, const char *where, const metric_value &v)
{
	json entry = {{"metric", r.metric->info().name}, {"scope", where}};

	if (v.package >= 0)
		entry["socket"] = v.package;
	if (v.pmu)
		entry["box"] = v.pmu->name;
	entry["value"] = v.value;
	entry["unit"] = r.metric->info().unit;
	entry["seconds"] = std::chrono::duration<double>(v.time).count();
	entry["running"] = v.share;
	entry["error"] = v.error;
	return entry;
}

void printer::print_json(const std::vector<reading> &all, period when) const
{
	auto seconds = [](std::chrono::nanoseconds time) {
		return std::chrono::duration<double>(time).count();
	};
	double now = seconds(of_.counts().total_time());
	json metrics = json::array(), missing = json::array();

	for (const reading &r : all) {
		for (const metric_value &v : r.boxes)
			metrics.push_back(entry_of(r, "box", v));
		for (const metric_value &v : r.packages)
			metrics.push_back(entry_of(r, "socket", v));
		metrics.push_back(entry_of(r, "machine", r.machine));
	}
	for (const missing_metric &m : of_.missing())
		missing.push_back(
			{{"metric", m.info->name}, {"reason", m.reason}});

	json document = {
		{"set", set_.name},
		{"time", now},
		{"seconds", when == period::total
				    ? now
				    : seconds(of_.counts().interval_time())},
		{"total", when == period::total},
		{"metrics", std::move(metrics)},
		{"unavailable", std::move(missing)},
	};

	fmt::print("{}\n", document.dump(options_.run.interval_ms ? -1 : 2));
}

bool printer::print(bool last)
{
	for (period when : {period::interval, period::total}) {
		if (when == period::interval && !options_.run.interval_ms)
			continue;
		if (when == period::total && !last)
			continue;

		std::vector<reading> all = read(when);

		if (options_.form == format::human)
			print_human(all, when);
		else if (options_.form == format::csv)
			print_csv(all, when);
		else
			print_json(all, when);
	}
	return !std::fflush(stdout);
}

void add_metrics(measurement &to, const metric_set &set, bool all)
{
	const auto *known = uncore::catalogue::find(to.machine().generation());

	if (!known)
		known = &uncore::catalogue::standard();

	auto add = [&](const char *name) {
		if (const auto *info = known->metric(name))
			to.add_metric(*info);
	};

	for (const lead &l : set.by_box)
		add(l.metric);
	for (const char *name : set.by_socket)
		add(name);
	if (!all)
		return;
	for (const auto *info : known->metrics_of_group(set.name)) {
		bool leads =
			title_of(set, info->name) ||
			std::any_of(set.by_socket.begin(), set.by_socket.end(),
				    [&](const char *name) {
					    return info->name == name;
				    });

		if (!leads)
			to.add_metric(*info);
	}
}

int metric(const context &shared, const metric_options &options)
{
	const auto *set = std::find_if(
		std::begin(sets), std::end(sets),
		[&](const metric_set &s) { return s.name == options.set; });

	if (set == std::end(sets))
		return fail_usage(fmt::format("no set of metrics '{}'; there "
					      "are {} (uncore stat -M takes "
					      "single metrics)",
					      options.set, set_names()));

	auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return fail(machine.error());

	measurement wanted(*std::move(machine));

	add_metrics(wanted, *set, options.all);
	if (wanted.empty())
		return fail(fmt::format("{}: {}",
					wanted.missing().front().info->name,
					wanted.missing().front().reason));
	if (auto opened = wanted.open(); !opened)
		return fail(opened.error());

	printer out(wanted, *set, options);

	return wanted.run(options.run,
			  [&](bool last) { return out.print(last); });
}

} // namespace

void add_metric(CLI::App &app, context &shared)
{
	auto options = std::make_shared<metric_options>();
	CLI::App *command = add_command(
		app, shared, "metric", "Measure a set of metrics",
		[options, &shared] { return metric(shared, *options); });

	command->add_option("set", options->set, set_names())
		->required()
		->type_name("SET");
	command->add_flag("--all", options->all,
			  "All metrics of the set, not only the main ones");
	command->add_flag("--per-box", options->per_box,
			  "A line for each box of each socket");
	add_run_options(*command, options->run);
	add_format(*command, options->form);
}

} // namespace cli
