// SPDX-License-Identifier: GPL-2.0-or-later
// uncore list: boxes, events, metrics and names of filter values, from this
// machine's driver, or from the catalogue if no driver is loaded.
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
#include "counting/metric_files.hpp"
#include "expression.hpp"
#include "metric.hpp"
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

/// Row of the list, for every output format.
struct entry {
	std::string kind;    ///< "event"
	std::string heading; ///< title above the row
	std::string name;
	std::string box;
	std::string unit;
	std::string description;
	std::string section;
	std::string file;    ///< of a metric of the user
	std::string lacking; ///< obstacle to counting on this machine
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
	lister(const uncore::topology &machine,
	       const uncore::catalogue &catalogue, const metric_files &files)
		: machine_(machine), catalogue_(catalogue), files_(files)
	{
	}

	std::vector<entry> collect() const
	{
		std::vector<entry> entries;

		for (const auto &box : catalogue_.boxes())
			entries.push_back(describe(box));
		for (const auto &box : catalogue_.boxes()) {
			for (const auto &event : catalogue_.events())
				if (event.box == box.name)
					entries.push_back(describe(event));
		}
		add_driver_events(entries);
		for (const auto &group : uncore::metric_group::all)
			if (!group.leading_of(catalogue_).empty())
				entries.push_back(describe(group));
		for (const auto &metric : catalogue_.metrics())
			entries.push_back(describe(metric));
		add_own_metrics(entries);
		for (const auto &value : catalogue_.values())
			entries.push_back(describe(value));
		return entries;
	}

private:
	/// Return this machine's PMU name for a box type.
	std::string pmu_of(std::string_view box) const
	{
		for (const auto &pmu : machine_.pmus())
			if (pmu.box == box)
				return pmu.prefix + '_' + pmu.box;
		return std::string(box);
	}

	std::string title_of(std::string_view box) const
	{
		const auto *info = catalogue_.box(box);

		return std::string(info ? info->title : box);
	}

	/// Return the obstacle to counting an event on this machine, or "".
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
			if (auto reason = lacking(term.name); !reason.empty())
				return reason;
		return {};
	}

	entry describe(const uncore::box_info &info) const
	{
		const size_t boxes = machine_.match(info.name).size();
		entry item;

		item.kind = "box";
		item.heading = "Boxes";
		item.name = pmu_of(info.name);
		item.box = info.name;
		item.section = info.section;
		item.description = fmt::format(
			"{}, {} counters{}", info.title, info.counters,
			machine_.pmus().empty()
				? ""
				: fmt::format(", {} a socket", boxes));
		std::vector<std::string> fields;
		for (const auto &field : catalogue_.fields())
			if (field.box == info.name)
				fields.push_back(std::string(field.name));
		item.details.push_back(
			fmt::format("fields {}", fmt::join(fields, ", ")));
		item.object = {{"kind", "box"},
			       {"box", info.name},
			       {"pmu", item.name},
			       {"title", info.title},
			       {"counters", info.counters},
			       {"instances", boxes},
			       {"fields", fields},
			       {"section", info.section}};
		return item;
	}

	entry describe(const uncore::event_info &info) const
	{
		entry item;

		item.kind = "event";
		item.heading = title_of(info.box) + " events";
		item.name = fmt::format("{}/{}", pmu_of(info.box), info.name);
		for (const auto parameter : info.parameters)
			item.name += fmt::format(",{}=?", parameter);
		item.name += '/';
		item.box = info.box;
		item.unit = info.unit;
		item.description = info.description;
		item.section = info.section;
		item.lacking = lacking(info);
		item.details.push_back(fmt::format(
			"{}; {}, at most {} a cycle; {}", info.terms,
			info.counters ? "counters " + counters_of(info.counters)
				      : "its own counter",
			info.max_increment, info.section));
		if (!info.unit.empty())
			item.details.push_back(fmt::format("in {}", info.unit));
		item.object = {{"kind", "event"},
			       {"box", info.box},
			       {"event", item.name},
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
		return item;
	}

	/// Append events of the driver that the catalogue lacks.
	void add_driver_events(std::vector<entry> &entries) const
	{
		for (const auto &pmu : machine_.pmus())
			for (const std::string &name : event_files(pmu)) {
				if (catalogue_.event(pmu.box, name) ||
				    pmu.instance.value_or(0) != 0)
					continue;
				entry item;

				item.kind = "event";
				item.heading = title_of(pmu.box) + " events";
				item.name = fmt::format("{}_{}/{}/", pmu.prefix,
							pmu.box, name);
				item.box = pmu.box;
				item.description = "known to the driver alone";
				item.object = {{"kind", "event"},
					       {"box", pmu.box},
					       {"event", item.name},
					       {"name", name}};
				entries.push_back(std::move(item));
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

	/// Append the user's metrics, below the name of their file.
	void add_own_metrics(std::vector<entry> &entries) const
	{
		const uncore::own_metrics &own = files_.metrics();

		for (size_t i = 0; i < own.size(); i++) {
			const auto info = own.metric(i);

			if (!info)
				continue;

			entry item = describe(**info);

			item.heading = "Metrics of " + files_.file(i);
			item.file = files_.file(i);
			item.details.front() = own.definition(i).expression;
			item.object["file"] = item.file;
			item.object["expression"] =
				own.definition(i).expression;
			entries.push_back(std::move(item));
		}
	}

	entry describe(const uncore::metric_group &group) const
	{
		std::vector<std::string_view> names;
		entry item;

		for (const auto *metric : group.leading_of(catalogue_))
			names.push_back(metric->name);
		item.kind = "group";
		item.heading = "Groups of metrics";
		item.name = group.name;
		item.description = group.question;
		item.details.push_back(list_of(names));
		item.object = {{"kind", "group"},
			       {"group", group.name},
			       {"question", group.question},
			       {"leading", names}};
		return item;
	}

	entry describe(const uncore::metric_info &info) const
	{
		entry item;

		item.kind = "metric";
		item.heading = "Metrics";
		item.name = info.name;
		item.box = info.box;
		item.unit = info.unit;
		item.description = info.description;
		item.section = info.section;
		item.lacking = lacking(info);
		item.details.push_back(fmt::format("{}", info.expression));

		std::vector<std::string> facts;

		if (!info.groups.empty())
			facts.push_back("groups " + list_of(info.groups));
		if (!info.section.empty())
			facts.emplace_back(info.section);
		if (!info.unit.empty())
			facts.push_back(fmt::format("in {}", info.unit));
		if (!facts.empty())
			item.details.push_back(
				fmt::format("{}", fmt::join(facts, "; ")));
		if (!info.note.empty())
			item.details.push_back(
				fmt::format("note: {}", info.note));
		item.object = {{"kind", "metric"},
			       {"box", info.box},
			       {"metric", info.name},
			       {"description", info.description},
			       {"expression", info.expression},
			       {"scale", info.scale},
			       {"unit", info.unit},
			       {"groups", info.groups},
			       {"one_group", info.one_group},
			       {"note", info.note},
			       {"section", info.section},
			       {"file", nullptr}};
		return item;
	}

	entry describe(const uncore::value_info &info) const
	{
		entry item;

		item.kind = "value";
		item.heading = fmt::format("Values of {} of the {}", info.field,
					   title_of(info.box));
		item.name = fmt::format("{}={}", info.field, info.name);
		item.box = info.box;
		item.description = info.description;
		item.section = info.section;
		item.details.push_back(fmt::format(
			"{:#x}{}{}; {}", info.value,
			info.message_class.empty()
				? ""
				: fmt::format(", class {}", info.message_class),
			info.combines ? ", goes with others: a+b" : "",
			info.section));
		item.object = {{"kind", "value"},
			       {"box", info.box},
			       {"field", info.field},
			       {"name", info.name},
			       {"value", info.value},
			       {"message_class", info.message_class},
			       {"combines", info.combines},
			       {"description", info.description},
			       {"section", info.section}};
		return item;
	}

	const uncore::topology &machine_;
	const uncore::catalogue &catalogue_;
	const metric_files &files_;
};

/// Words of a search.  An entry matches if it contains every word.
class search {
public:
	search(const std::vector<std::string> &words,
	       const uncore::catalogue &catalogue)
	{
		for (const std::string &word : words) {
			const std::string lowered = lower(word);

			if (std::find(std::begin(kinds), std::end(kinds),
				      lowered) != std::end(kinds))
				kind_ = lowered;
			else if (catalogue.box(lowered))
				box_ = lowered;
			else
				words_.push_back(lowered);
		}
	}

	/// Return whether metrics can be among the matches.
	bool wants_metrics() const
	{
		return kind_.empty() || kind_ == "metrics";
	}

	bool finds(const entry &item) const
	{
		if (!kind_.empty() && !kind_.starts_with(item.kind) &&
		    !(kind_ == "metrics" && item.kind == "group"))
			return false;
		if (!box_.empty() && box_ != item.box)
			return false;
		return std::all_of(words_.begin(), words_.end(),
				   [&](const std::string &word) {
					   return contains(item, word);
				   });
	}

	/// Return advice for a search without matches: names close to the first
	/// unknown word.
	std::string advice(const std::vector<entry> &entries) const;

private:
	static bool contains(const entry &item, const std::string &word)
	{
		std::string text = lower(item.name + ' ' + item.heading + ' ' +
					 item.description + ' ' + item.unit);
		for (const char *key : {"groups", "category"})
			if (item.object.contains(key))
				text += ' ' + lower(item.object[key].dump());
		return text.find(word) != text.npos;
	}

	std::string kind_, box_;
	std::vector<std::string> words_;
};

/// "cas_count.rd" and "cas_count" of "hswep_imc/cas_count.rd/"
void add_names(const entry &item, std::set<std::string> &names)
{
	std::istringstream parts(item.name);
	std::string part;

	names.insert(item.box);
	while (std::getline(parts, part, '/')) {
		part = part.substr(0, part.find(','));
		names.insert(part.substr(part.find('=') + 1));
		names.insert(part.substr(0, part.find_first_of(".=")));
	}
}

std::string search::advice(const std::vector<entry> &entries) const
{
	std::set<std::string> names;

	for (const entry &item : entries)
		add_names(item, names);
	// Short names are close to any short word.
	std::erase_if(names,
		      [](const std::string &name) { return name.size() < 3; });
	for (const std::string &word : words_) {
		if (word.size() < 3 ||
		    std::any_of(entries.begin(), entries.end(),
				[&](const entry &item) {
					return contains(item, word);
				}))
			continue;

		const auto suggestions = uncore::nearest_names(
			word, {names.begin(), names.end()}, 3);

		if (!suggestions.empty())
			return fmt::format(": did you mean {}?",
					   fmt::join(suggestions, ", "));
	}
	return words_.size() + !box_.empty() + !kind_.empty() > 1
		       ? "; fewer words match more"
		       : "; 'uncore list' shows all";
}

/// Width limit of the name column; longer names do not widen the column.
constexpr size_t widest_name = 44;

/// Return the width of the name column below the heading of entry @p first.
size_t name_width(const std::vector<entry> &entries, size_t first)
{
	size_t widest = 0;

	for (size_t i = first;
	     i < entries.size() && entries[i].heading == entries[first].heading;
	     i++)
		if (width(entries[i].name) <= widest_name)
			widest = std::max(widest, width(entries[i].name));
	return widest;
}

void print_line(const std::string &text, size_t columns)
{
	fmt::print("{}", wrap_lines(text + '\n', columns));
}

/// Append the description to @p head, cut to the terminal's width.
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

void print_human(const std::vector<entry> &entries, bool verbose)
{
	const size_t columns = columns_of(stdout);
	std::string heading;
	size_t widest = 0;

	for (size_t i = 0; i < entries.size(); i++) {
		const entry &item = entries[i];

		if (item.heading != heading) {
			if (!heading.empty())
				fmt::print("\n");
			print_line(bold(stdout, item.heading), columns);
			heading = item.heading;
			widest = name_width(entries, i);
		}

		const size_t pad =
			widest - std::min(widest, width(item.name)) + 2;
		const std::string head =
			"  " + item.name + std::string(pad, ' ');

		if (!verbose) {
			const std::string line =
				one_line(head, item.description, columns);

			print_line(item.lacking.empty() ? line
							: dim(stdout, line),
				   columns);
			continue;
		}
		for (const auto &line : wrap(head, item.description, columns))
			print_line(item.lacking.empty() ? line
							: dim(stdout, line),
				   columns);
		for (const std::string &detail : item.details)
			for (const auto &line :
			     wrap(detail_indent, detail, columns))
				print_line(dim(stdout, line), columns);
		if (!item.lacking.empty())
			for (const auto &line :
			     wrap(detail_indent, "not here: " + item.lacking,
				  columns))
				print_line(yellow(stdout, line), columns);
	}
}

void print_csv(const std::vector<entry> &entries)
{
	fmt::print("kind,box,name,unit,description,section,lacking,file\n");
	for (const entry &item : entries)
		fmt::print("{}",
			   csv_line({item.kind, item.box, item.name, item.unit,
				     item.description, item.section,
				     item.lacking, item.file}));
}

void print_json(const std::vector<entry> &entries,
		const uncore::topology &machine,
		const uncore::catalogue &catalogue)
{
	json document = begin_document("list", &machine);

	// the catalogue's generation if the machine's generation is unknown
	document["generation"] = catalogue.generation();
	for (const char *kind : kinds)
		document[kind] = json::array();

	for (const entry &item : entries) {
		json object = item.object;

		object.erase("kind");
		if (item.kind == "event" || item.kind == "metric") {
			object["usable"] = machine.pmus().empty()
						   ? json(nullptr)
						   : json(item.lacking.empty());
			if (!item.lacking.empty())
				object["lacking"] = item.lacking;
		}
		document[item.kind == "box" ? "boxes" : item.kind + "s"]
			.push_back(std::move(object));
	}
	fmt::print("{}", document_line(document));
}

/// Print notes about the whole list.
void print_notes(const uncore::topology &machine,
		 const std::vector<entry> &entries, bool reasons)
{
	const auto unusable = std::count_if(
		entries.begin(), entries.end(),
		[](const entry &item) { return !item.lacking.empty(); });

	if (machine.packages().empty())
		return;
	if (machine.pmus().empty())
		note(fmt::format(
			"no uncore driver is loaded: this is the catalogue of {} ('uncore check' says what to do)",
			uncore::catalogue::of(machine).title()));
	else if (machine.generation().empty())
		note("libuncore knows no names for this processor");
	else if (unusable)
		note(fmt::format("{} of these cannot be counted here{}",
				 unusable, reasons ? "" : "; -v says why"));
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
	const uncore::catalogue &catalogue = uncore::catalogue::of(*machine);
	// The catalogue's names, of Haswell-EP, would be wrong for the driver
	// of another processor.
	const bool foreign =
		!machine->pmus().empty() && machine->generation().empty();
	const search query(options.words, catalogue);
	const metric_files files(*machine);
	const std::vector<entry> entries =
		lister(*machine, catalogue, files).collect();
	std::vector<entry> matches;

	std::copy_if(entries.begin(), entries.end(),
		     std::back_inserter(matches), [&](const entry &item) {
			     return query.finds(item) &&
				    (!foreign || !item.file.empty() ||
				     item.description ==
					     "known to the driver alone");
		     });
	if (matches.empty())
		return fail(fmt::format("nothing matches '{}'{}",
					fmt::join(options.words, " "),
					query.advice(entries)));
	switch (options.form) {
	case format::human:
		print_human(matches, options.verbose);
		break;
	case format::csv:
		print_csv(matches);
		break;
	case format::json:
		print_json(matches, *machine, catalogue);
		break;
	}
	print_notes(*machine, matches,
		    options.verbose || options.form != format::human);
	if (!query.wants_metrics() || files.problems().empty())
		return success;
	for (const std::string &problem : files.problems())
		note(problem);
	return failure;
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
