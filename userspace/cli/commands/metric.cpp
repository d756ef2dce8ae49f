// SPDX-License-Identifier: GPL-2.0-or-later
// uncore metric: presets of stat: sets of metrics that answer one question,
// counted as by stat and shown as a table.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "counting/count_report.hpp"
#include "counting/count_text.hpp"
#include "output/message.hpp"
#include "output/number.hpp"
#include "output/table.hpp"
#include "terminal/colour.hpp"
#include "text.hpp"

namespace cli {

namespace {

using uncore::period;
using uncore::scope;

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
	{"bus",
	 "How busy is the front-side bus, and with what?",
	 {},
	 // as many events as there are counters: none is multiplexed
	 {"fsb_utilisation", "fsb_utilisation_own", "fsb_data_utilisation",
	  "l3_fill", "snoop_hitm"}},
};

struct metric_options {
	std::string set;
	bool all = false, per_box = false;
	count_options count;
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

/// A number with a mark if something is wrong with it, which put_reasons()
/// says.
std::string shown(const report_line &l)
{
	return human(l.value, l.counted.unit()) +
	       (l.counted.reason().empty() ? "" : "*");
}

/// A metric's numbers at one moment, for all places.
struct reading {
	const uncore::metric_info *metric;
	std::vector<const report_line *> boxes, packages;
	const report_line *machine;
};

class table_report : public report {
public:
	table_report(measurement &of, const metric_set &set, bool per_box)
		: report(of, {scope::box, scope::package, scope::machine},
			 set.name),
		  set_(set), per_box_(per_box)
	{
	}

private:
	void show(period when, const std::vector<report_line> &lines) override;
	void put_boxes(const std::vector<const reading *> &of);
	void put_sockets(const std::vector<const reading *> &of);
	void put_turns(const std::vector<reading> &all);
	void put_reasons(const std::vector<report_line> &lines);
	void put_missing();

	const metric_set &set_;
	bool per_box_, titled_ = false;
};

std::vector<reading> readings_of(const std::vector<report_line> &lines)
{
	std::vector<reading> all;

	for (const report_line &l : lines) {
		if (all.empty() || all.back().metric != l.counted.metric())
			all.push_back({l.counted.metric(), {}, {}, nullptr});
		if (l.where == scope::box)
			all.back().boxes.push_back(&l);
		else if (l.where == scope::package)
			all.back().packages.push_back(&l);
		else
			all.back().machine = &l;
	}
	return all;
}

/// Rows are boxes, columns metrics of one box type.
void table_report::put_boxes(const std::vector<const reading *> &of)
{
	std::vector<table::column> columns{{"SOCKET"}, {"BOX"}};

	for (const reading *r : of) {
		const char *title = title_of(set_, r->metric->name);

		columns.push_back({title ? title : std::string(r->metric->name),
				   table::align::right});
	}

	table rows(columns);
	const auto &boxes = of.front()->boxes;
	int package = -1;

	for (size_t i = 0; i < boxes.size(); i++) {
		std::vector<std::string> row{"", std::string(boxes[i]->box())};

		if (boxes[i]->counted.package() != package)
			row[0] = std::to_string(boxes[i]->counted.package());
		package = boxes[i]->counted.package();
		for (const reading *r : of)
			row.push_back(shown(*r->boxes[i]));
		rows.add(std::move(row));
		if (i + 1 < boxes.size() &&
		    boxes[i + 1]->counted.package() == package)
			continue;
		row = {"", bold(out(), "all")};
		for (const reading *r : of)
			for (const report_line *l : r->packages)
				if (l->counted.package() == package)
					row.push_back(
						bold(out(), shown(*l)));
		rows.add(std::move(row));
	}

	std::vector<std::string> row{bold(out(), "all"),
				     bold(out(), "all")};

	for (const reading *r : of)
		row.push_back(bold(out(), shown(*r->machine)));
	rows.add(std::move(row));
	put(rows);
}

/// Rows are metrics, columns sockets.
void table_report::put_sockets(const std::vector<const reading *> &of)
{
	std::vector<table::column> columns{{"METRIC"}};

	for (const uncore::package &p : of_.counters().machine().packages())
		columns.push_back(
			{fmt::format("SOCKET {}", p.id), table::align::right});
	columns.push_back({"ALL", table::align::right});
	columns.push_back({"", table::align::left, true});

	table rows(columns);

	for (const reading *r : of) {
		std::vector<std::string> row{std::string(r->metric->name)};

		for (const uncore::package &p : of_.counters().machine().packages()) {
			std::string text = "-";

			for (const report_line *l : r->packages)
				if (l->counted.package() == p.id)
					text = shown(*l);
			row.push_back(text);
		}
		row.push_back(bold(out(), shown(*r->machine)));
		row.push_back(dim(out(), r->metric->description));
		rows.add(std::move(row));
	}
	put(rows);
}

/// What did not fit the counters at once, and what that makes of the numbers.
void table_report::put_turns(const std::vector<reading> &all)
{
	table rows({{""}, {"", table::align::right}, {""}});
	bool any = false;

	for (const reading &r : all) {
		const report_line &v = *r.machine;

		const double share = v.counted.share();

		if (share >= 1)
			continue;
		any = true;
		rows.add({std::string(r.metric->name), percent(share),
			  !std::isfinite(v.value) ? ""
			  : none_seen(v)	  ? "none seen"
						  : v.error_text()});
	}
	if (!any)
		return;
	put("\n{}\n",
	    yellow(out(),
		   "Multiplexed, for lack of counters; counted this part of the time:"));
	put(rows);
}

void table_report::put_reasons(const std::vector<report_line> &lines)
{
	std::vector<std::string_view> said;

	for (const report_line &l : lines) {
		const std::string_view reason = l.counted.reason();

		if (reason.empty() ||
		    std::count(said.begin(), said.end(), reason))
			continue;
		put("{}{}\n", said.empty() ? "\n" : "",
		    yellow(out(), fmt::format("* {}", reason)));
		said.push_back(reason);
	}
}

void table_report::put_missing()
{
	if (of_.missing().empty())
		return;
	put("\n{}\n", yellow(out(), "Not on this machine:"));

	table rows({{""}, {""}});

	for (const missing_metric &m : of_.missing())
		rows.add({std::string(m.info->name), m.reason});
	put(rows);
}

void table_report::show(period when, const std::vector<report_line> &lines)
{
	const std::vector<reading> all = readings_of(lines);
	std::vector<const reading *> plain;
	std::vector<std::pair<std::string_view, std::vector<const reading *>>>
		boxed;

	for (const reading &r : all) {
		if (!per_box_ && !title_of(set_, r.metric->name)) {
			plain.push_back(&r);
			continue;
		}
		if (boxed.empty() || boxed.back().first != r.metric->box)
			boxed.push_back({r.metric->box, {}});
		boxed.back().second.push_back(&r);
	}
	put("{}{}: {}  {}\n", titled_ ? "\n" : "", set_.name, set_.question,
	    dim(out(),
		fmt::format("{}{:.3f} s",
			    when == period::total ? "all " : "last ",
			    seconds(when))));
	titled_ = true;
	for (auto &[box, readings] : boxed) {
		put("\n");
		put_boxes(readings);
	}
	if (!plain.empty()) {
		put("\n");
		put_sockets(plain);
	}
	put_reasons(lines);
	put_turns(all);
	if (when == period::total)
		put_missing();
}

void add_metrics(measurement &to, const metric_set &set, bool all)
{
	const auto &known = uncore::catalogue::of(to.counters().machine());
	auto add = [&](const char *name) {
		if (const auto *info = known.metric(name))
			to.add_metric(*info);
	};

	for (const lead &l : set.by_box)
		add(l.metric);
	for (const char *name : set.by_socket)
		add(name);
	if (!all)
		return;
	for (const auto *info : known.metrics_of_group(set.name)) {
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

/// The machine has none of the metrics of a set.
int nothing_of(const metric_set &set, const uncore::topology &machine)
{
	const auto &known = uncore::catalogue::of(machine);
	std::string names;

	for (const metric_set &other : sets)
		if (std::any_of(other.by_box.begin(), other.by_box.end(),
				[&](const lead &l) {
					return known.metric(l.metric);
				}) ||
		    std::any_of(other.by_socket.begin(), other.by_socket.end(),
				[&](const char *name) {
					return known.metric(name);
				}))
			names += fmt::format("{}{}", names.empty() ? "" : ", ",
					     other.name);
	return fail(
		fmt::format("{} has no metric of the set '{}' (its sets: {})",
			    machine.generation(), set.name, names));
}

int unknown_set(const std::string &name)
{
	std::vector<std::string_view> names;

	for (const metric_set &set : sets)
		names.push_back(set.name);

	const auto near = uncore::nearest_names(name, names, 1);

	return fail_usage(fmt::format(
		"no set of metrics '{}'{}; there are {} (uncore stat -M takes single metrics)",
		name,
		near.empty() ? ""
			     : fmt::format(": did you mean {}?", near.front()),
		set_names()));
}

int metric(const context &shared, metric_options &options)
{
	const auto *set = std::find_if(
		std::begin(sets), std::end(sets),
		[&](const metric_set &s) { return s.name == options.set; });

	if (set == std::end(sets))
		return unknown_set(options.set);

	auto opened = measurement::open(shared, options.count);

	if (!opened)
		return fail(opened.error());

	measurement &counts = **opened;

	add_metrics(counts, *set, options.all);
	if (!counts.counters().size() && counts.missing().empty())
		return nothing_of(*set, counts.counters().machine());

	table_report printer(counts, *set, options.per_box);

	return counts.run([&](bool last) { return printer.print(last); });
}

} // namespace

void add_metric(parser &app, context &shared)
{
	auto options = std::make_shared<metric_options>();
	parser command = add_command(
		app, shared, "metric",
		"Answer one question: memory, llc, qpi, power, pcie, io, ring, bus",
		[options, &shared] { return metric(shared, *options); });

	add_examples(command, "uncore metric memory",
		     "uncore metric qpi --per-box make -j");
	command.add_option("set", options->set, set_names())
		.required()
		.type_name("SET");
	command.add_flag("--all", options->all,
			 "All metrics of the set, not only the main ones");
	command.add_flag("--per-box", options->per_box,
			 "A line for each box of each socket");
	add_count_options(command, options->count);
	add_format(command, options->count.form);
}

} // namespace cli
