// SPDX-License-Identifier: GPL-2.0-or-later
// uncore report: which tasks, functions and boxes a file of samples is of.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include <nlohmann/json.hpp>

#include <uncore/topology.hpp>

#include "cli.hpp"
#include "number.hpp"
#include "perf_file.hpp"
#include "symbols.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

struct report_options {
	std::string input = "perf.data";
	unsigned lines = 10;
	format form = format::human;
};

/// What shares a name.
struct share {
	std::string name;
	uint64_t samples = 0;
	double counts = 0; ///< the sum of the samples' periods
};

/// A list of the file's shares by one key.
struct ranking {
	const char *key;   ///< of JSON and CSV
	const char *title; ///< of the table
	std::vector<share> shares;
	double counts = 0;
	uint64_t samples = 0;
};

class analysis {
public:
	explicit analysis(const perf_file &file,
			  const uncore::topology *machine)
		: file_(file), machine_(machine)
	{
	}

	std::vector<ranking> rankings();

private:
	template <class Name>
	ranking rank(const char *key, const char *title, Name name);
	std::string task(const file_sample &s) const;
	std::string function(const file_sample &s);
	std::string box(const file_sample &s) const;
	const file_mapping *mapping(const file_sample &s, uint32_t pid) const;

	std::string kernel_function(uint64_t address);
	std::string user_function(const file_mapping &mapped, uint64_t address);

	const perf_file &file_;
	const uncore::topology *machine_;
	symbol_table kernel_ = symbol_table::of_kernel();
	std::map<std::string, symbol_table> tables_;
};

std::string analysis::task(const file_sample &s) const
{
	if (!s.tid)
		return "idle";
	return fmt::format("{} {}", s.tid, s.task.empty() ? "?" : s.task);
}

/// The latest mapping there that was made before the sample.
const file_mapping *analysis::mapping(const file_sample &s, uint32_t pid) const
{
	const file_mapping *best = nullptr;

	for (const file_mapping &m : file_.mappings)
		if (m.pid == pid && s.ip >= m.start &&
		    s.ip - m.start < m.length && m.time <= s.time &&
		    (!best || m.time >= best->time))
			best = &m;
	return best;
}

std::string analysis::kernel_function(uint64_t address)
{
	std::string_view name = kernel_.find(address);

	return name.empty() ? "[kernel]" : std::string(name);
}

std::string analysis::user_function(const file_mapping &mapped,
				    uint64_t address)
{
	std::string base = std::filesystem::path(mapped.name).filename();
	uint64_t offset = address - mapped.start + mapped.offset;
	auto found = tables_.find(mapped.name);

	if (found == tables_.end())
		found = tables_.emplace(mapped.name,
					symbol_table::of_file(mapped.name))
				.first;

	std::string_view name =
		found->second.find(found->second.address_of(offset));

	return name.empty() ? fmt::format("{}+{:#x}", base, offset)
			    : fmt::format("{} ({})", name, base);
}

std::string analysis::function(const file_sample &s)
{
	if (s.kernel)
		return kernel_function(s.ip);

	// A process that has not executed a program has its parent's mappings.
	uint32_t pid = s.pid;

	for (int depth = 0; depth < 16; depth++) {
		if (const file_mapping *m = mapping(s, pid))
			return user_function(*m, s.ip);

		auto parent = file_.parents.find(pid);

		if (parent == file_.parents.end())
			break;
		pid = parent->second;
	}
	return fmt::format("{:#x}", s.ip);
}

std::string analysis::box(const file_sample &s) const
{
	int package = machine_ ? machine_->package_of(int(s.cpu)) : -1;
	const std::string &event = file_.events[s.event].name;

	return package < 0 ? fmt::format("CPU {} {}", s.cpu, event)
			   : fmt::format("socket {} {}", package, event);
}

template <class Name>
ranking analysis::rank(const char *key, const char *title, Name name)
{
	std::map<std::string, share> by_name;
	ranking made{key, title, {}};

	for (const file_sample &s : file_.samples) {
		share &one = by_name[name(s)];

		one.samples++;
		one.counts += double(s.period);
		made.counts += double(s.period);
		made.samples++;
	}
	for (auto &[text, one] : by_name) {
		one.name = text;
		made.shares.push_back(std::move(one));
	}
	std::stable_sort(made.shares.begin(), made.shares.end(),
			 [](const share &a, const share &b) {
				 return a.counts > b.counts;
			 });
	return made;
}

std::vector<ranking> analysis::rankings()
{
	return {rank("task", "TASK",
		     [this](const file_sample &s) { return task(s); }),
		rank("function", "FUNCTION",
		     [this](const file_sample &s) { return function(s); }),
		rank("box", "EVENT",
		     [this](const file_sample &s) { return box(s); })};
}

double percent_of(const share &part, const ranking &whole)
{
	return whole.counts > 0 ? 100 * part.counts / whole.counts : 0;
}

void print_human(const std::vector<ranking> &all, const report_options &options,
		 uint64_t lost)
{
	fmt::print("{} samples in {}", grouped(double(all[0].samples)),
		   options.input);
	if (lost)
		fmt::print(", {}", red(stdout, fmt::format("{} lost", lost)));
	fmt::print("\n");
	for (const ranking &r : all) {
		table out({{"SHARE", table::align::right},
			   {"SAMPLES", table::align::right},
			   {"COUNTS", table::align::right},
			   {r.title}});

		fmt::print("\n");
		for (size_t i = 0; i < r.shares.size() && i < options.lines;
		     i++)
			out.add({fmt::format("{:.2f} %",
					     percent_of(r.shares[i], r)),
				 grouped(double(r.shares[i].samples)),
				 grouped(r.shares[i].counts),
				 r.shares[i].name});
		out.print(stdout);
		if (r.shares.size() > options.lines)
			fmt::print("{}\n",
				   dim(stdout,
				       fmt::format("and {} more",
						   r.shares.size() -
							   options.lines)));
	}
}

void print_csv(const std::vector<ranking> &all)
{
	fmt::print("kind,name,samples,counts,percent\n");
	for (const ranking &r : all)
		for (const share &s : r.shares)
			fmt::print("{}", csv_line({r.key, s.name,
						   std::to_string(s.samples),
						   exact(s.counts),
						   exact(percent_of(s, r))}));
}

void print_json(const std::vector<ranking> &all, const perf_file &file)
{
	json document = {{"samples", file.samples.size()}, {"lost", file.lost}};

	for (const ranking &r : all) {
		json list = json::array();

		for (const share &s : r.shares)
			list.push_back({{r.key, s.name},
					{"samples", s.samples},
					{"counts", s.counts},
					{"percent", percent_of(s, r)}});
		document[fmt::format("{}{}", r.key,
				     r.key == std::string_view("box") ? "es"
								      : "s")] =
			std::move(list);
	}
	fmt::print("{}\n", document.dump(2, ' ', false,
					 json::error_handler_t::replace));
}

int report(const context &shared, const report_options &options)
{
	auto file = perf_file::read(options.input);

	if (!file)
		return fail(file.error());

	auto machine = uncore::topology::read(shared.sysfs);
	analysis of(*file, machine ? &*machine : nullptr);
	std::vector<ranking> all = of.rankings();

	switch (options.form) {
	case format::human:
		print_human(all, options, file->lost);
		break;
	case format::csv:
		print_csv(all);
		break;
	case format::json:
		print_json(all, *file);
		break;
	}
	return success;
}

} // namespace

void add_report(CLI::App &app, context &shared)
{
	auto options = std::make_shared<report_options>();
	CLI::App *command = add_command(
		app, shared, "report",
		"Show which tasks and functions a file of samples is of",
		[options, &shared] { return report(shared, *options); });

	command->add_option("-i,--input", options->input,
			    "The file (perf.data)")
		->type_name("FILE");
	command->add_option("-n,--lines", options->lines,
			    "Lines of each list (10)")
		->check(CLI::Range(1, 1000000));
	add_format(*command, options->form);
}

} // namespace cli
