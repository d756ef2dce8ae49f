// SPDX-License-Identifier: GPL-2.0-or-later
// uncore list: what can be counted: boxes, events, metrics, and names of filter
// values; of this machine's driver where there is one, or else of the
// catalogue.
#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <uncore/catalogue.hpp>
#include <uncore/event.hpp>
#include <uncore/topology.hpp>

#include "catalogue_tables.hpp"
#include "commands/commands.hpp"
#include "expression.hpp"
#include "output/csv.hpp"
#include "output/document.hpp"
#include "output/message.hpp"
#include "terminal/colour.hpp"
#include "terminal/layout.hpp"
#include "terminal/text.hpp"
#include "text.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

struct list_options {
	std::vector<std::string> words;
	std::string machine;
	bool verbose = false;
	format form = format::human;
};

/// Something that is listed, in all the forms that it may take.
struct entry {
	std::string kind;    ///< "event"
	std::string heading; ///< what it is listed under
	std::string name;
	std::string box;
	std::string unit;
	std::string description;
	std::string section;
	std::string lacking; ///< why it cannot be used here, if so
	std::vector<std::string> details;
	json object;
};

const char *const kinds[] = {"boxes", "events", "groups", "metrics", "values"};

std::string list_of(std::span<const std::string_view> names)
{
	return fmt::format("{}", fmt::join(names, ", "));
}

/// "0, 1" for 0x3
std::string counters_of(uint32_t mask)
{
	std::vector<unsigned> numbers;

	for (unsigned i = 0; i < 32; i++)
		if (mask >> i & 1)
			numbers.push_back(i);
	return fmt::format("{}", fmt::join(numbers, ", "));
}

class lister {
public:
	lister(const uncore::topology &machine, const uncore::catalogue &known)
		: machine_(machine), known_(known)
	{
	}

	std::vector<entry> all() const
	{
		std::vector<entry> found;

		for (const auto &box : known_.boxes())
			found.push_back(describe(box));
		for (const auto &box : known_.boxes()) {
			for (const auto &event : known_.events())
				if (event.box == box.name)
					found.push_back(describe(event));
		}
		add_driver_events(found);
		for (const auto &group : uncore::metric_group::all)
			if (!group.leading_of(known_).empty())
				found.push_back(describe(group));
		for (const auto &metric : known_.metrics())
			found.push_back(describe(metric));
		for (const auto &value : known_.values())
			found.push_back(describe(value));
		return found;
	}

private:
	/// This machine's name for all boxes of a type.
	std::string pmu_of(std::string_view box) const
	{
		for (const auto &pmu : machine_.pmus())
			if (pmu.box == box)
				return pmu.prefix + '_' + pmu.box;
		return std::string(box);
	}

	std::string title_of(std::string_view box) const
	{
		const auto *info = known_.box(box);

		return std::string(info ? info->title : box);
	}

	/// Why an event cannot be counted on this machine; empty if it can.
	std::string lacking(const std::string &event) const
	{
		if (machine_.pmus().empty())
			return {};
		const auto groups = uncore::parse_events(event, machine_);

		return groups ? "" : groups.error().message;
	}

	std::string lacking(const uncore::event_info &info) const
	{
		std::string text = fmt::format("{}/{}", info.box, info.name);

		if (machine_.match(info.box).empty())
			return machine_.pmus().empty()
				       ? ""
				       : "this machine has no such box";
		for (const auto parameter : info.parameters)
			text += fmt::format(",{}=0", parameter);
		return lacking(text + '/');
	}

	std::string lacking(const uncore::metric_info &info) const
	{
		const auto formula = uncore::expression::parse(info.expression);

		if (!formula || machine_.pmus().empty())
			return {};
		for (const auto &term : formula->terms())
			if (auto why = lacking(term.name); !why.empty())
				return why;
		return {};
	}

	entry describe(const uncore::box_info &info) const
	{
		const size_t boxes = machine_.match(info.name).size();
		entry one;

		one.kind = "box";
		one.heading = "Boxes";
		one.name = pmu_of(info.name);
		one.box = info.name;
		one.section = info.section;
		one.description = fmt::format(
			"{}, {} counters{}", info.title, info.counters,
			machine_.pmus().empty()
				? ""
				: fmt::format(", {} a socket", boxes));
		std::vector<std::string> fields;
		for (const auto &field : known_.fields())
			if (field.box == info.name)
				fields.push_back(std::string(field.name));
		one.details.push_back(
			fmt::format("fields {}", fmt::join(fields, ", ")));
		one.object = {{"kind", "box"},
			      {"box", info.name},
			      {"pmu", one.name},
			      {"title", info.title},
			      {"counters", info.counters},
			      {"instances", boxes},
			      {"fields", fields},
			      {"section", info.section}};
		return one;
	}

	entry describe(const uncore::event_info &info) const
	{
		entry one;

		one.kind = "event";
		one.heading = title_of(info.box) + " events";
		one.name = fmt::format("{}/{}", pmu_of(info.box), info.name);
		for (const auto parameter : info.parameters)
			one.name += fmt::format(",{}=?", parameter);
		one.name += '/';
		one.box = info.box;
		one.unit = info.unit;
		one.description = info.description;
		one.section = info.section;
		one.lacking = lacking(info);
		one.details.push_back(fmt::format(
			"{}; {}, at most {} a cycle; {}", info.terms,
			info.counters ? "counters " + counters_of(info.counters)
				      : "its own counter",
			info.max_increment, info.section));
		if (!info.unit.empty())
			one.details.push_back(fmt::format("in {}", info.unit));
		one.object = {{"kind", "event"},
			      {"box", info.box},
			      {"event", one.name},
			      {"name", info.name},
			      {"description", info.description},
			      {"category", info.category},
			      {"terms", info.terms},
			      {"parameters", info.parameters},
			      {"scale", info.scale},
			      {"unit", info.unit},
			      {"counters", info.counters},
			      {"max_increment", info.max_increment},
			      {"section", info.section}};
		return one;
	}

	/// What the driver names and the catalogue does not.
	void add_driver_events(std::vector<entry> &to) const
	{
		for (const auto &pmu : machine_.pmus())
			for (const std::string &name : event_files(pmu)) {
				if (known_.event(pmu.box, name) ||
				    pmu.instance.value_or(0) != 0)
					continue;
				entry one;

				one.kind = "event";
				one.heading = title_of(pmu.box) + " events";
				one.name = fmt::format("{}_{}/{}/", pmu.prefix,
						       pmu.box, name);
				one.box = pmu.box;
				one.description = "known to the driver alone";
				one.object = {{"kind", "event"},
					      {"box", pmu.box},
					      {"event", one.name},
					      {"name", name}};
				to.push_back(std::move(one));
			}
	}

	static std::vector<std::string> event_files(const uncore::pmu_info &pmu)
	{
		std::vector<std::string> names;
		std::error_code err;

		for (std::filesystem::directory_iterator
			     it(pmu.folder / "events", err),
		     end;
		     !err && it != end; it.increment(err)) {
			const std::string name = it->path().filename();

			const bool printable = std::all_of(
				name.begin(), name.end(),
				[](char c) { return c > ' ' && c < 0x7f; });

			if (printable && !name.ends_with(".scale") &&
			    !name.ends_with(".unit"))
				names.push_back(name);
		}
		std::sort(names.begin(), names.end());
		return names;
	}

	entry describe(const uncore::metric_group &group) const
	{
		std::vector<std::string_view> names;
		entry one;

		for (const auto *metric : group.leading_of(known_))
			names.push_back(metric->name);
		one.kind = "group";
		one.heading = "Groups of metrics";
		one.name = group.name;
		one.description = group.question;
		one.details.push_back(list_of(names));
		one.object = {{"kind", "group"},
			      {"group", group.name},
			      {"question", group.question},
			      {"leading", names}};
		return one;
	}

	entry describe(const uncore::metric_info &info) const
	{
		entry one;

		one.kind = "metric";
		one.heading = "Metrics";
		one.name = info.name;
		one.box = info.box;
		one.unit = info.unit;
		one.description = info.description;
		one.section = info.section;
		one.lacking = lacking(info);
		one.details.push_back(fmt::format("{}", info.expression));
		one.details.push_back(fmt::format(
			"groups {}; {}{}", list_of(info.groups), info.section,
			info.unit.empty() ? ""
					  : fmt::format("; in {}", info.unit)));
		if (!info.note.empty())
			one.details.push_back(
				fmt::format("note: {}", info.note));
		one.object = {{"kind", "metric"},
			      {"box", info.box},
			      {"metric", info.name},
			      {"description", info.description},
			      {"expression", info.expression},
			      {"scale", info.scale},
			      {"unit", info.unit},
			      {"groups", info.groups},
			      {"one_group", info.one_group},
			      {"note", info.note},
			      {"section", info.section}};
		return one;
	}

	entry describe(const uncore::value_info &info) const
	{
		entry one;

		one.kind = "value";
		one.heading = fmt::format("Values of {} of the {}", info.field,
					  title_of(info.box));
		one.name = fmt::format("{}={}", info.field, info.name);
		one.box = info.box;
		one.description = info.description;
		one.section = info.section;
		one.details.push_back(fmt::format(
			"{:#x}{}{}; {}", info.value,
			info.message_class.empty()
				? ""
				: fmt::format(", class {}", info.message_class),
			info.combines ? ", goes with others: a+b" : "",
			info.section));
		one.object = {{"kind", "value"},
			      {"box", info.box},
			      {"field", info.field},
			      {"name", info.name},
			      {"value", info.value},
			      {"message_class", info.message_class},
			      {"combines", info.combines},
			      {"description", info.description},
			      {"section", info.section}};
		return one;
	}

	const uncore::topology &machine_;
	const uncore::catalogue &known_;
};

/// The words of a search; all of them must be in an entry.
class search {
public:
	search(const std::vector<std::string> &words,
	       const uncore::catalogue &known)
	{
		for (const std::string &word : words) {
			const std::string small = lower(word);

			if (std::find(std::begin(kinds), std::end(kinds),
				      small) != std::end(kinds))
				kind_ = small;
			else if (known.box(small))
				box_ = small;
			else
				words_.push_back(small);
		}
	}

	bool finds(const entry &one) const
	{
		if (!kind_.empty() && !kind_.starts_with(one.kind) &&
		    !(kind_ == "metrics" && one.kind == "group"))
			return false;
		if (!box_.empty() && box_ != one.box)
			return false;
		return std::all_of(words_.begin(), words_.end(),
				   [&](const std::string &word) {
					   return has(one, word);
				   });
	}

	/// A remedy for a search that finds nothing: names that are close to a
	/// word that no entry has.
	std::string advice(const std::vector<entry> &all) const;

private:
	static bool has(const entry &one, const std::string &word)
	{
		std::string text = lower(one.name + ' ' + one.heading + ' ' +
					 one.description + ' ' + one.unit);
		for (const char *key : {"groups", "category"})
			if (one.object.contains(key))
				text += ' ' + lower(one.object[key].dump());
		return text.find(word) != text.npos;
	}

	std::string kind_, box_;
	std::vector<std::string> words_;
};

/// "cas_count.rd" and "cas_count" of "hswep_imc/cas_count.rd/"
void add_names(const entry &one, std::set<std::string> &names)
{
	std::istringstream parts(one.name);
	std::string part;

	names.insert(one.box);
	while (std::getline(parts, part, '/')) {
		part = part.substr(0, part.find(','));
		names.insert(part.substr(part.find('=') + 1));
		names.insert(part.substr(0, part.find_first_of(".=")));
	}
}

std::string search::advice(const std::vector<entry> &all) const
{
	std::set<std::string> names;

	for (const entry &one : all)
		add_names(one, names);
	// Short ones are near to any short word.
	std::erase_if(names,
		      [](const std::string &name) { return name.size() < 3; });
	for (const std::string &word : words_) {
		if (word.size() < 3 ||
		    std::any_of(all.begin(), all.end(), [&](const entry &one) {
			    return has(one, word);
		    }))
			continue;

		const auto near = uncore::nearest_names(
			word, {names.begin(), names.end()}, 3);

		if (!near.empty())
			return fmt::format(": did you mean {}?",
					   fmt::join(near, ", "));
	}
	return words_.size() + !box_.empty() + !kind_.empty() > 1
		       ? "; fewer words match more"
		       : "; 'uncore list' shows all";
}

/// A name behind this column has its description right behind it.
constexpr size_t widest_name = 44;

/// How wide the names under a heading are, from the entry at @p first.
size_t name_width(const std::vector<entry> &found, size_t first)
{
	size_t widest = 0;

	for (size_t i = first;
	     i < found.size() && found[i].heading == found[first].heading; i++)
		if (width(found[i].name) <= widest_name)
			widest = std::max(widest, width(found[i].name));
	return widest;
}

void print_line(const std::string &text, size_t columns)
{
	fmt::print("{}", wrap_lines(text + '\n', columns));
}

/// The description as far as it fits behind the name.
std::string one_line(const std::string &head, const std::string &description,
		     size_t columns)
{
	if (!columns)
		return head + description;

	const size_t room = columns - std::min(columns - 1, width(head));
	std::string line = head + fit_end(description, room);

	line.erase(line.find_last_not_of(' ') + 1);
	return line;
}

constexpr const char *detail_indent = "        ";

void print_human(const std::vector<entry> &found, bool verbose)
{
	const size_t columns = columns_of(stdout);
	std::string heading;
	size_t widest = 0;

	for (size_t i = 0; i < found.size(); i++) {
		const entry &one = found[i];

		if (one.heading != heading) {
			if (!heading.empty())
				fmt::print("\n");
			print_line(bold(stdout, one.heading), columns);
			heading = one.heading;
			widest = name_width(found, i);
		}

		const size_t pad =
			widest - std::min(widest, width(one.name)) + 2;
		const std::string head =
			"  " + one.name + std::string(pad, ' ');

		if (!verbose) {
			const std::string line =
				one_line(head, one.description, columns);

			print_line(one.lacking.empty() ? line
						       : dim(stdout, line),
				   columns);
			continue;
		}
		for (const auto &line : wrap(head, one.description, columns))
			print_line(one.lacking.empty() ? line
						       : dim(stdout, line),
				   columns);
		for (const std::string &detail : one.details)
			for (const auto &line :
			     wrap(detail_indent, detail, columns))
				print_line(dim(stdout, line), columns);
		if (!one.lacking.empty())
			for (const auto &line :
			     wrap(detail_indent, "not here: " + one.lacking,
				  columns))
				print_line(yellow(stdout, line), columns);
	}
}

void print_csv(const std::vector<entry> &found)
{
	fmt::print("kind,box,name,unit,description,section,lacking\n");
	for (const entry &one : found)
		fmt::print("{}", csv_line({one.kind, one.box, one.name,
					   one.unit, one.description,
					   one.section, one.lacking}));
}

void print_json(const std::vector<entry> &found,
		const uncore::topology &machine, const uncore::catalogue &known)
{
	json all = begin_document("list", &machine);

	// of the catalogue, where the machine's is unknown
	all["generation"] = known.generation();
	for (const char *kind : kinds)
		all[kind] = json::array();

	for (const entry &one : found) {
		json object = one.object;

		object.erase("kind");
		if (one.kind == "event" || one.kind == "metric") {
			object["usable"] = machine.pmus().empty()
						   ? json(nullptr)
						   : json(one.lacking.empty());
			if (!one.lacking.empty())
				object["lacking"] = one.lacking;
		}
		all[one.kind == "box" ? "boxes" : one.kind + "s"].push_back(
			std::move(object));
	}
	fmt::print("{}", document_line(all));
}

/// What the reader should know about the list as a whole.
void print_notes(const uncore::topology &machine,
		 const std::vector<entry> &found, bool reasons)
{
	const auto lacking =
		std::count_if(found.begin(), found.end(), [](const entry &e) {
			return !e.lacking.empty();
		});

	if (machine.packages().empty())
		return;
	if (machine.pmus().empty())
		note(fmt::format(
			"no uncore driver is loaded: this is the catalogue of {} ('uncore check' says what to do)",
			uncore::catalogue::of(machine).title()));
	else if (machine.generation().empty())
		note("libuncore knows no names for this processor");
	else if (lacking)
		note(fmt::format("{} of these cannot be counted here{}",
				 lacking, reasons ? "" : "; -v says why"));
}

uncore::result<uncore::topology> find_machine(const context &shared,
					      const std::string &generation)
{
	if (generation.empty())
		return uncore::topology::read(shared.sysfs);
	if (!uncore::catalogue::find(generation))
		return uncore::error{
			uncore::errc::not_found,
			fmt::format("there is no catalogue of '{}', only of {}",
				    generation,
				    list_of(uncore::catalogue::generations()))};
	return uncore::topology::blank(generation);
}

int list(const context &shared, const list_options &options)
{
	const auto machine = find_machine(shared, options.machine);

	if (!machine)
		return fail(machine.error());
	const uncore::catalogue &known = uncore::catalogue::of(*machine);
	// Haswell-EP's names would be wrong ones for another processor's
	// driver.
	const bool foreign =
		!machine->pmus().empty() && machine->generation().empty();
	const search wanted(options.words, known);
	const std::vector<entry> all = lister(*machine, known).all();
	std::vector<entry> found;

	std::copy_if(all.begin(), all.end(), std::back_inserter(found),
		     [&](const entry &one) {
			     return wanted.finds(one) &&
				    (!foreign ||
				     one.description ==
					     "known to the driver alone");
		     });
	if (found.empty())
		return fail(fmt::format("nothing matches '{}'{}",
					fmt::join(options.words, " "),
					wanted.advice(all)));
	switch (options.form) {
	case format::human:
		print_human(found, options.verbose);
		break;
	case format::csv:
		print_csv(found);
		break;
	case format::json:
		print_json(found, *machine, known);
		break;
	}
	print_notes(*machine, found,
		    options.verbose || options.form != format::human);
	return success;
}

} // namespace

void add_list(parser &app, context &shared)
{
	auto options = std::make_shared<list_options>();
	parser command = add_command(
		app, shared, "list",
		"Show boxes, events, metrics and names of filter values",
		[options, &shared] { return list(shared, *options); });

	add_examples(command, "uncore list events imc",
		     "uncore list -v tor_inserts opcode");
	command.add_option(
		       "words", options->words,
		       "Only what has all of these words; boxes, events, groups, metrics or values: only these")
		.type_name("WORD");
	command.add_option(
		       "--machine", options->machine,
		       "The catalogue of that generation, not this machine's: " +
			       list_of(uncore::catalogue::generations()))
		.type_name("NAME");
	command.add_flag(
		"-v,--verbose", options->verbose,
		"With encodings, expressions, sections of the manual, and why something cannot be counted here");
	add_format(command, options->form);
}

} // namespace cli
