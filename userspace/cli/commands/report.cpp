// SPDX-License-Identifier: GPL-2.0-or-later
// uncore report: which tasks, functions and boxes a file of samples is of.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <uncore/catalogue.hpp>
#include <uncore/topology.hpp>

#include "commands/commands.hpp"
#include "output/csv.hpp"
#include "output/document.hpp"
#include "output/machine.hpp"
#include "output/message.hpp"
#include "output/number.hpp"
#include "output/table.hpp"
#include "perfdata/profile.hpp"
#include "symbols/symbolizer.hpp"
#include "terminal/colour.hpp"
#include "terminal/layout.hpp"
#include "terminal/text.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

struct file_options {
	std::string input = "perf.data";
	unsigned lines = 10;
	bool debuginfod = false;
	std::vector<std::string> keys; ///< lists to show; empty: all
	format form = format::human;
};

/// What shares a name.
struct share {
	std::string name;
	json parts; ///< of the name, for JSON
	uint64_t samples = 0;
	long double counts = 0;
};

/// A list of an event's shares by one key.
struct ranking {
	const char *key;   ///< of JSON and CSV
	const char *title; ///< of the table
	std::vector<share> shares;
};

/// An event with its lists.
struct event_report {
	const profile_event &event;
	std::vector<ranking> rankings;
};

class analysis {
public:
	analysis(const perf_file &file, const uncore::topology *machine,
		 symbolizer::debuginfod servers)
		: file_(file), profile_(file, machine), names_(servers)
	{
		names_.set_recorded_kernel(file.kernel, file.release);
	}

	/// Of the events that have samples, as the file has them.
	std::vector<event_report> events();
	/// Why functions have no names.
	std::vector<std::string> reasons() const { return names_.reasons(); }

private:
	template <class Name>
	ranking rank(const char *key, const char *title,
		     const profile_event &event, Name name) const;
	json parts_of(std::string_view key, const file_sample &s,
		      const std::string &name) const;
	static std::string task(const file_sample &s);
	std::string function(const file_sample &s);
	std::string box(const file_sample &s) const;

	const perf_file &file_;
	profile profile_;
	symbolizer names_;
};

std::string analysis::task(const file_sample &s)
{
	if (!s.tid)
		return "idle";
	// The kernel's word for one that has given its number back already.
	if (s.tid == UINT32_MAX)
		return "[ending task]";
	return fmt::format("{} {}", s.tid,
			   s.task.empty() ? "?" : printable(s.task));
}

std::string analysis::function(const file_sample &s)
{
	switch (s.mode) {
	case cpu_mode::kernel: {
		const code_name &n = names_.recorded_kernel(s.ip);

		if (n.function.empty())
			return n.object;
		return n.object == "[kernel]"
			       ? n.function
			       : fmt::format("{} {}", n.function, n.object);
	}
	case cpu_mode::user:
		break;
	case cpu_mode::guest:
		return "[guest]";
	case cpu_mode::hypervisor:
		return "[hypervisor]";
	case cpu_mode::unknown:
		return "[unknown]";
	}
	if (s.mapping == SIZE_MAX)
		return fmt::format("{:#x}", s.ip);

	const code_mapping &m = file_.mappings[s.mapping];
	const code_name &n = names_.recorded_user(m, s.ip);

	return n.function.empty()
		       ? fmt::format("{}+{:#x}", n.object,
				     s.ip - m.start + m.offset)
		       : fmt::format("{} ({})", n.function, n.object);
}

std::string analysis::box(const file_sample &s) const
{
	const int package = profile_.socket_of(s.cpu);
	std::string event = printable(file_.events[s.event].name);

	return package < 0 ? fmt::format("CPU {} {}", s.cpu, event)
			   : fmt::format("socket {} {}", package, event);
}

json analysis::parts_of(std::string_view key, const file_sample &s,
			const std::string &name) const
{
	if (key == "task")
		return {{"pid", s.tid == UINT32_MAX ? json() : json(s.tid)},
			{"command", printable(s.task)}};
	if (key == "function")
		return {{key, name}};

	const int package = profile_.socket_of(s.cpu);
	const std::string pmu = profile_.pmu_of(file_.events[s.event]);
	json parts = {{"socket", package < 0 ? json() : json(package)},
		      {"pmu", pmu.empty() ? json() : json(printable(pmu))}};

	if (package < 0)
		parts["cpu"] = s.cpu;
	return parts;
}

template <class Name>
ranking analysis::rank(const char *key, const char *title,
		       const profile_event &event, Name name) const
{
	std::unordered_map<std::string, size_t> places;
	ranking made{key, title, {}};

	for (const file_sample *s : event.samples) {
		std::string text = name(*s);
		auto [at, is_new] =
			places.try_emplace(text, made.shares.size());

		if (is_new)
			made.shares.push_back({text, parts_of(key, *s, text)});

		share &one = made.shares[at->second];

		one.samples++;
		one.counts += profile_.counts_of(*s);
	}
	std::sort(made.shares.begin(), made.shares.end(),
		  [](const share &a, const share &b) {
			  return a.counts != b.counts ? a.counts > b.counts
						      : a.name < b.name;
		  });
	return made;
}

std::vector<event_report> analysis::events()
{
	std::vector<event_report> all;

	for (const profile_event &event : profile_.events())
		all.push_back({event,
			       {rank("task", "TASK", event, task),
				rank("function", "FUNCTION", event,
				     [this](const file_sample &s) {
					     return function(s);
				     }),
				rank("box", "EVENT", event,
				     [this](const file_sample &s) {
					     return box(s);
				     })}});
	return all;
}

double percent_of(const share &part, const profile_event &whole)
{
	return whole.counts > 0 ? double(100 * part.counts / whole.counts) : 0;
}

/// Cut to the terminal's width.
void print_line(const std::string &text)
{
	fmt::print("{}\n", fit(text, columns_of(stdout)));
}

void print_ranking(const ranking &r, const profile_event &event,
		   const file_options &options)
{
	table out({{"SHARE", table::align::right},
		   {"SAMPLES", table::align::right},
		   {"COUNTS", table::align::right},
		   {r.title}});

	print_line("");
	for (size_t i = 0; i < r.shares.size() && i < options.lines; i++)
		out.add({fmt::format("{:.2f} %",
				     percent_of(r.shares[i], event)),
			 grouped(double(r.shares[i].samples)),
			 grouped(double(r.shares[i].counts)),
			 r.shares[i].name});
	out.print(stdout);
	if (r.shares.size() > options.lines)
		print_line(dim(stdout,
			       fmt::format("and {} more",
					   r.shares.size() - options.lines)));
}

/// "1 sample", "1,204 samples"
std::string count_of(double number, std::string_view what)
{
	return fmt::format("{} {}{}", grouped(number), what,
			   number == 1 ? "" : "s");
}

void print_human(const std::vector<event_report> &all, const perf_file &file,
		 const file_options &options)
{
	print_line(fmt::format(
		"{} in {}{}{}", count_of(file.samples.size(), "sample"),
		printable(options.input), file.lost ? ", " : "",
		file.lost ? red(stdout, fmt::format("{} lost", file.lost))
			  : ""));
	for (const auto &[event, rankings] : all) {
		print_line("");

		const std::vector<int> cpus(event.cpus.begin(),
					    event.cpus.end());

		print_line(fmt::format(
			"{}: {}, {}, on CPU{} {}", bold(stdout, event.name),
			count_of(event.samples.size(), "sample"),
			count_of(double(event.counts), "count"),
			cpus.size() == 1 ? "" : "s", cpu_list(cpus)));
		for (const ranking &r : rankings)
			print_ranking(r, event, options);
	}
}

void print_csv(const std::vector<event_report> &all)
{
	fmt::print("event,kind,name,samples,counts,percent\n");
	for (const auto &[event, rankings] : all)
		for (const ranking &r : rankings)
			for (const share &s : r.shares)
				fmt::print("{}",
					   csv_line({event.name, r.key, s.name,
						     std::to_string(s.samples),
						     exact(double(s.counts)),
						     exact(percent_of(
							     s, event))}));
}

/// A document on the machine that has recorded.
json head_of(const perf_file &file)
{
	json head = begin_document("report", nullptr);

	// It does not say when.
	head["start"] = nullptr;
	head["host"] = file.host.empty() ? json() : json(file.host);
	for (const auto &[type, name] : file.pmus) {
		const std::string prefix = name.substr(0, name.find('_'));

		if (!uncore::catalogue::find(prefix))
			continue;
		head["driver"] = driver_name(uncore::pmu_driver::xeon_uncore);
		head["generation"] = prefix;
	}
	return head;
}

void print_json(const std::vector<event_report> &all, const perf_file &file)
{
	json document = head_of(file);

	document["samples"] = file.samples.size();
	document["lost"] = file.lost;
	for (const char *list : {"events", "tasks", "functions", "boxes"})
		document[list] = json::array();
	for (const auto &[event, rankings] : all) {
		document["events"].push_back({{"event", event.name},
					      {"samples", event.samples.size()},
					      {"counts", double(event.counts)},
					      {"cpus", event.cpus}});
		for (const ranking &r : rankings) {
			std::string_view key = r.key;
			auto &list = document[fmt::format(
				"{}{}", key, key == "box" ? "es" : "s")];

			for (const share &s : r.shares) {
				json one = {{"event", event.name}};

				one.update(s.parts);
				one["samples"] = s.samples;
				one["counts"] = double(s.counts);
				one["percent"] = percent_of(s, event);
				list.push_back(std::move(one));
			}
		}
	}
	fmt::print("{}", document_line(document));
}

/// The list for a key, also one of perf's; "" for none.
std::string_view list_of(std::string_view key)
{
	static constexpr std::pair<std::string_view, std::string_view> keys[] =
		{{"task", "task"},	   {"comm", "task"},
		 {"pid", "task"},	   {"tid", "task"},
		 {"function", "function"}, {"sym", "function"},
		 {"symbol", "function"},   {"box", "box"},
		 {"socket", "box"}};

	for (const auto &[name, list] : keys)
		if (name == key)
			return list;
	return {};
}

int report_file(const context &shared, const file_options &options)
{
	auto file = perf_file::read(options.input);

	if (!file && access(options.input.c_str(), F_OK))
		return fail(fmt::format("{} ('uncore record' makes files of "
					"samples)",
					file.error().message));
	if (!file)
		return fail(file.error());

	if (options.debuginfod && !secure_getenv("DEBUGINFOD_URLS"))
		note("--debuginfod: DEBUGINFOD_URLS names no servers");

	auto machine = uncore::topology::read(shared.sysfs);
	analysis of(*file, machine ? &*machine : nullptr,
		    options.debuginfod ? symbolizer::debuginfod::ask
				       : symbolizer::debuginfod::never);
	std::vector<event_report> all = of.events();

	for (const std::string &key : options.keys)
		if (list_of(key).empty())
			return fail_usage(fmt::format(
				"-s {}: there are task (comm, pid), function "
				"(sym, symbol) and box (socket)",
				key));
	if (!options.keys.empty())
		for (event_report &event : all)
			std::erase_if(event.rankings, [&](const ranking &r) {
				return std::none_of(
					options.keys.begin(),
					options.keys.end(),
					[&](const std::string &key) {
						return list_of(key) == r.key;
					});
			});

	switch (options.form) {
	case format::human:
		print_human(all, *file, options);
		break;
	case format::csv:
		print_csv(all);
		break;
	case format::json:
		print_json(all, *file);
		break;
	}
	if (file->foreign)
		note(fmt::format("{} samples are of events that the file does "
				 "not describe, and are left out",
				 file->foreign));
	for (const std::string &reason : of.reasons())
		note(reason);
	return success;
}

} // namespace

void add_report(parser &app, context &shared)
{
	auto options = std::make_shared<file_options>();
	parser command = add_command(
		app, shared, "report",
		"Show which tasks and functions a file of samples is of",
		[options, &shared] { return report_file(shared, *options); });

	add_examples(command, "uncore report",
		     "uncore report -i reads.data -n 30");
	command.add_option("-i,--input", options->input, "The file (perf.data)")
		.type_name("FILE");
	command.add_option("-n,--lines", options->lines,
			   "Lines of each list (10)")
		.range(1, 1000000);
	command.add_option("-s,--sort", options->keys,
			   "Lists to show: task, function, box")
		.delimiter(',')
		.one_value()
		.type_name("KEY,...");
	command.add_flag("--debuginfod", options->debuginfod,
			 "Ask the servers of DEBUGINFOD_URLS for debug files");
	add_format(command, options->form);
}

} // namespace cli
