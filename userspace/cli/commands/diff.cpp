// SPDX-License-Identifier: GPL-2.0-or-later
// uncore diff: compares the numbers of two files of uncore stat --save.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "counting/saved_counts.hpp"
#include "output/csv.hpp"
#include "output/document.hpp"
#include "output/message.hpp"
#include "output/number.hpp"
#include "output/table.hpp"
#include "terminal/colour.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

/// Exit statuses, as of diff(1).
enum : int { same = 0, changed = 1, trouble = 2 };

struct diff_options {
	std::vector<std::string> paths;
	double threshold = 0;	///< percent of the first value
	double confidence = 99; ///< percent
	bool all = false, any_machine = false;
	format form = format::human;
};

enum class outcome { same, changed, unknown };

/// A number that both files have.
struct comparison {
	const saved_number *a, *b;
	double probability; ///< of probability_of()
	cli::outcome outcome;

	double difference() const { return b->number.value - a->number.value; }
	double error() const
	{
		return std::hypot(a->number.error, b->number.error);
	}
	/// Return a part of the first value, in percent.
	double percent(double part) const
	{
		return 100 * part / std::fabs(a->number.value);
	}
	const std::string &reason() const
	{
		return a->reason.empty() ? b->reason : a->reason;
	}
};

struct differences {
	saved_counts a, b;
	std::vector<comparison> compared;
	std::vector<const saved_number *> only_a, only_b;

	size_t count(cli::outcome outcome) const
	{
		return size_t(std::count_if(compared.begin(), compared.end(),
					    [outcome](const comparison &c) {
						    return c.outcome == outcome;
					    }));
	}
};

/// Put numbers of the same key together; both files may have an event more than
/// once.
void match(differences &found)
{
	std::vector<const saved_number *> rest;

	for (const saved_number &number : found.b.numbers)
		rest.push_back(&number);
	for (const saved_number &number : found.a.numbers) {
		const auto other = std::find_if(
			rest.begin(), rest.end(), [&](const saved_number *b) {
				return b->key() == number.key();
			});

		if (other == rest.end()) {
			found.only_a.push_back(&number);
			continue;
		}
		found.compared.push_back(
			{&number, *other,
			 probability_of(number.number, (*other)->number),
			 outcome::unknown});
		rest.erase(other);
	}
	found.only_b = std::move(rest);
}

/// Decide what has changed.  The probability that any of n equal numbers looks
/// changed is at most n times that of one (Bonferroni): the confidence is that
/// of all numbers together.
void judge(differences &found, const diff_options &options)
{
	const size_t known = size_t(
		std::count_if(found.compared.begin(), found.compared.end(),
			      [](const comparison &c) {
				      return !std::isnan(c.probability);
			      }));
	const double least = (1 - options.confidence / 100) / double(known);

	for (comparison &c : found.compared) {
		if (std::isnan(c.probability))
			continue;
		c.outcome = outcome::same;
		if (c.probability < least &&
		    std::fabs(c.difference()) * 100 >
			    options.threshold * std::fabs(c.a->number.value))
			c.outcome = outcome::changed;
	}
}

/// Return the reason why two files cannot be compared; "" if they can.
std::string refusal(const differences &found, const diff_options &options)
{
	const saved_counts &a = found.a, &b = found.b;

	if (a.generation != b.generation)
		return fmt::format(
			"{} is of {}, {} of {}: events of two generations are not the same",
			a.path, a.generation, b.path, b.generation);
	if (a.host != b.host && !options.any_machine)
		return fmt::format(
			"{} is of the machine {}, {} of {}: --any-machine compares them",
			a.path, a.host, b.path, b.host);
	if (found.compared.empty())
		return fmt::format("{} and {} have no number in common", a.path,
				   b.path);
	return "";
}

std::string socket_of(const saved_number &number)
{
	return number.socket < 0 ? "all" : std::to_string(number.socket);
}

std::string change_text(const comparison &c)
{
	if (c.difference() == 0)
		return "0 %";
	if (c.a->number.value == 0)
		return "from 0";
	return fmt::format("{:+.2f} %", c.percent(c.difference()));
}

std::string error_text(const comparison &c)
{
	if (std::isnan(c.error()))
		return "\u00b1 unknown";
	if (c.a->number.value == 0)
		return "\u00b1" + human(c.error(), c.a->unit);
	return fmt::format("\u00b1{:.2f} %", c.percent(c.error()));
}

const char *word_of(outcome result)
{
	return result == outcome::changed ? "changed"
	       : result == outcome::same  ? "same"
					  : "unknown";
}

std::string title_of(const saved_counts &counts)
{
	return fmt::format("{}: {} {} of {:.3f} s, {}, {}", counts.path,
			   counts.runs, counts.runs == 1 ? "run" : "runs",
			   counts.seconds, counts.host, counts.start);
}

void print_human(const differences &found, const diff_options &options)
{
	const bool boxes = std::any_of(
		found.compared.begin(), found.compared.end(),
		[](const comparison &c) { return !c.a->pmu.empty(); });
	std::vector<table::column> columns{{"NAME"}, {"SOCKET"}};

	if (boxes)
		columns.push_back({"BOX"});
	for (const char *title : {"A", "B", "CHANGE", "ERROR"})
		columns.push_back({title, table::align::right});
	columns.push_back({""});

	table rows(columns);

	for (const comparison &c : found.compared) {
		if (!options.all && c.outcome != outcome::changed)
			continue;

		std::vector<std::string> row{c.a->name, socket_of(*c.a)};

		if (boxes)
			row.push_back(c.a->pmu);
		row.insert(row.end(),
			   {human(c.a->number.value, c.a->unit),
			    human(c.b->number.value, c.b->unit),
			    std::isnan(c.difference()) ? "-" : change_text(c),
			    error_text(c)});
		if (options.all)
			row.push_back(
				c.outcome == outcome::unknown
					? fmt::format("unknown: {}", c.reason())
					: word_of(c.outcome));
		rows.add(std::move(row));
	}
	fmt::print("A  {}\nB  {}\n\n", title_of(found.a), title_of(found.b));
	if (!rows.empty()) {
		rows.print(stdout);
		fmt::print("\n");
	}
	fmt::print(
		"{} of {} numbers changed by more than the error{} ({:g} % sure)\n",
		found.count(outcome::changed), found.compared.size(),
		options.threshold > 0
			? fmt::format(" and {:g} %", options.threshold)
			: "",
		options.confidence);
}

void print_csv(const differences &found)
{
	fmt::print("{}", csv_line({"kind", "name", "scope", "socket", "pmu",
				   "a", "b", "unit", "difference", "error",
				   "probability", "outcome", "reason"}));
	for (const comparison &c : found.compared)
		fmt::print("{}",
			   csv_line({c.a->is_metric ? "metric" : "event",
				     c.a->name, c.a->scope,
				     c.a->socket < 0 ? "" : socket_of(*c.a),
				     c.a->pmu, exact(c.a->number.value),
				     exact(c.b->number.value), c.a->unit,
				     exact(c.difference()), exact(c.error()),
				     exact(c.probability), word_of(c.outcome),
				     c.reason()}));
}

json name_of(const saved_number &number)
{
	json entry = {{number.is_metric ? "metric" : "event", number.name},
		      {"scope", number.scope}};

	if (number.socket >= 0)
		entry["socket"] = number.socket;
	if (!number.pmu.empty())
		entry["pmu"] = number.pmu;
	return entry;
}

json names_of(const std::vector<const saved_number *> &numbers)
{
	json list = json::array();

	for (const saved_number *number : numbers)
		list.push_back(name_of(*number));
	return list;
}

json file_of(const saved_counts &counts)
{
	return {{"file", counts.path},
		{"host", counts.host},
		{"generation", counts.generation},
		{"start", counts.start},
		{"runs", counts.runs},
		{"seconds", counts.seconds}};
}

void print_json(const differences &found, const diff_options &options)
{
	json document = begin_document("diff", nullptr);

	document["a"] = file_of(found.a);
	document["b"] = file_of(found.b);
	document["confidence"] = options.confidence;
	document["threshold"] = options.threshold;
	document["changed"] = found.count(outcome::changed);
	document["numbers"] = json::array();
	for (const comparison &c : found.compared) {
		json entry = name_of(*c.a);

		entry["a"] = c.a->number.value;
		entry["b"] = c.b->number.value;
		entry["unit"] = c.a->unit;
		entry["difference"] = c.difference();
		entry["error"] = c.error();
		entry["probability"] = c.probability;
		entry["outcome"] = word_of(c.outcome);
		if (!c.reason().empty())
			entry["reason"] = c.reason();
		document["numbers"].push_back(std::move(entry));
	}
	document["only_a"] = names_of(found.only_a);
	document["only_b"] = names_of(found.only_b);
	fmt::print("{}", document_line(document));
}

/// Print notes on the whole comparison.
void print_notes(const differences &found)
{
	for (const saved_counts *counts : {&found.a, &found.b})
		if (counts->runs == 1)
			note(fmt::format(
				"{} is of one run, so that the difference between runs is not known: save with -r 5, or give a --threshold",
				counts->path));
	if (!found.only_a.empty() || !found.only_b.empty())
		note(fmt::format("{} numbers are in {} only, {} in {} only",
				 found.only_a.size(), found.a.path,
				 found.only_b.size(), found.b.path));
	if (const size_t unknown = found.count(outcome::unknown))
		note(fmt::format(
			"{} numbers or their errors are not known: --all has the reasons",
			unknown));
}

int fail_diff(std::string_view message)
{
	fail(message);
	return trouble;
}

int diff(const diff_options &options)
{
	if (options.paths.size() != 2)
		return fail_usage("two files are compared: uncore diff A B");

	auto a = saved_counts::read(options.paths[0]);
	auto b = saved_counts::read(options.paths[1]);

	if (!a || !b)
		return fail_diff((a ? b : a).error().message);

	differences found{*std::move(a), *std::move(b), {}, {}, {}};

	match(found);
	if (const std::string reason = refusal(found, options); !reason.empty())
		return fail_diff(reason);
	judge(found, options);
	switch (options.form) {
	case format::human:
		print_human(found, options);
		break;
	case format::csv:
		print_csv(found);
		break;
	case format::json:
		print_json(found, options);
		break;
	}
	// Scripts must not take an incomplete list for a result.
	if (std::fflush(stdout) || std::ferror(stdout))
		return trouble;
	print_notes(found);
	return found.count(outcome::changed) ? changed : same;
}

} // namespace

void add_diff(parser &app, context &shared)
{
	auto options = std::make_shared<diff_options>();
	parser command = add_command(app, shared, "diff",
				     "Compare two files of stat --save",
				     [options] { return diff(*options); });

	add_examples(command, "uncore diff before.json after.json",
		     "uncore diff --threshold 5 --all before.json after.json");
	command.add_option("files", options->paths,
			   "The files to compare, A and B")
		.required()
		.type_name("A B");
	command.add_option(
		       "--threshold", options->threshold,
		       "Only changes by more than N percent of the number in A")
		.range(0.0, 1e9)
		.type_name("N");
	command.add_option(
		       "--confidence", options->confidence,
		       "Percentage of comparisons without a change that find none (99)")
		.range(50.0, 99.9999999)
		.type_name("N");
	command.add_flag("--all", options->all,
			 "Numbers that did not change as well");
	command.add_flag("--any-machine", options->any_machine,
			 "Compare files of two machines of one generation");
	add_format(command, options->form);
}

} // namespace cli
