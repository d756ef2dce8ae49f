// SPDX-License-Identifier: GPL-2.0-or-later
// uncore __complete WORD...: prints completions of a command line's last word, one per
// line, for the shell (completion/uncore.bash).  Subcommands and options are those of the
// parser; events, metrics and values are those of this machine's catalogue.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <uncore/catalogue.hpp>
#include <uncore/topology.hpp>

#include "commands/commands.hpp"
#include "counting/metric_files.hpp"

namespace cli {

namespace {

/// Sorted set of completions: the candidates that begin with the typed word.
class candidates {
public:
	explicit candidates(std::string word) : word_(std::move(word)) {}

	void add(std::string candidate)
	{
		if (candidate.starts_with(word_))
			candidates_.insert(std::move(candidate));
	}

	void print() const
	{
		for (const std::string &candidate : candidates_)
			fmt::print("{}\n", candidate);
	}

private:
	std::string word_;
	std::set<std::string> candidates_;
};

void add_options(const parser &command, candidates &completions)
{
	for (const option &choice : command.options()) {
		if (choice.is_hidden())
			continue;
		for (std::string &name : choice.spellings())
			completions.add(std::move(name));
	}
}

void add_subcommands(const parser &app, candidates &completions)
{
	for (const parser &command : app.commands())
		completions.add(command.name());
}

/// Return the position behind the last separator in @p text.  Commas between the slashes
/// of "box/event,field=1/" separate fields, not events, and do not count.
size_t last_part(std::string_view text, std::string_view separators)
{
	bool slashes = false;
	size_t begin = 0;

	for (size_t i = 0; i < text.size(); i++) {
		if (text[i] == '/')
			slashes = !slashes;
		else if (!slashes && separators.find(text[i]) != text.npos)
			begin = i + 1;
	}
	return begin;
}

/// Completes the last event of a list: the PMU, the event's name, a field or its value.
/// "head" is the part of the word that stays as it is.
class event_completer {
public:
	event_completer(const uncore::topology &machine,
			candidates &completions)
		: machine_(machine), completions_(completions)
	{
	}

	void complete(std::string_view word)
	{
		const size_t begin = last_part(word, ",{}");
		const std::string head(word.substr(0, begin));
		const std::string_view event = word.substr(begin);
		const size_t slash = event.find('/');

		if (slash == event.npos) {
			add_pmus(head);
			return;
		}
		const std::string_view terms = event.substr(slash + 1);
		if (terms.find('/') != terms.npos)
			return;
		const size_t comma = terms.rfind(',');
		const size_t term = comma == terms.npos ? 0 : comma + 1;
		add_terms(head + std::string(event.substr(0, slash + 1 + term)),
			  box_of(event.substr(0, slash)), terms.substr(term),
			  term > 0);
	}

private:
	void add_pmus(const std::string &head)
	{
		for (const auto &pmu : machine_.pmus()) {
			completions_.add(head + pmu.name + '/');
			completions_.add(head + pmu.prefix + '_' + pmu.box +
					 '/');
		}
		for (const auto &box : catalogue_.boxes())
			completions_.add(head + std::string(box.name) + '/');
		for (const char *name : {"cycles", "instructions"})
			completions_.add(head + name);
	}

	std::string box_of(std::string_view pmu) const
	{
		const auto pmus = machine_.match(pmu);

		return pmus.empty() ? std::string(pmu) : pmus.front()->box;
	}

	void add_terms(const std::string &head, const std::string &box,
		       std::string_view term, bool has_event)
	{
		const size_t equals = term.find('=');

		if (equals != term.npos) {
			add_values(head, box, term, equals);
			return;
		}
		for (const auto &field : catalogue_.fields())
			if (field.box == box)
				completions_.add(head +
						 std::string(field.name) + '=');
		if (has_event)
			return;
		for (const auto &event : catalogue_.events()) {
			if (event.box != box)
				continue;
			const std::string name = head + std::string(event.name);

			if (event.parameters.empty())
				completions_.add(name + '/');
			else
				completions_.add(
					fmt::format("{},{}=", name,
						    event.parameters.front()));
		}
	}

	void add_values(const std::string &head, const std::string &box,
			std::string_view term, size_t equals)
	{
		const std::string_view field = term.substr(0, equals);
		const size_t plus = term.rfind('+');
		const std::string prefix =
			head +
			std::string(term.substr(
				0, (plus == term.npos ? equals : plus) + 1));

		for (const auto &value : catalogue_.values())
			if (value.box == box && value.field == field)
				completions_.add(prefix +
						 std::string(value.name));
	}

	const uncore::topology &machine_;
	const uncore::catalogue &catalogue_ = uncore::catalogue::of(machine_);
	candidates &completions_;
};

void add_groups(const uncore::catalogue &catalogue, const std::string &head,
		candidates &completions)
{
	for (const auto &metric : catalogue.metrics())
		for (const auto group : metric.groups)
			completions.add(head + std::string(group));
}

void add_metrics(const uncore::catalogue &catalogue,
		 const uncore::own_metrics &own, std::string_view word,
		 candidates &completions)
{
	const std::string head(word.substr(0, last_part(word, ",")));

	add_groups(catalogue, head, completions);
	for (const auto &metric : catalogue.metrics())
		completions.add(head + std::string(metric.name));
	for (size_t i = 0; i < own.size(); i++) {
		if (!own.metric(i))
			continue;
		completions.add(head + own.definition(i).name);
		for (const std::string &group : own.definition(i).groups)
			completions.add(head + group);
	}
}

/// Return the option named @p word if the option takes a value.
std::optional<option> valued_option(const parser &command,
				    const std::string &word)
{
	if (!word.starts_with('-'))
		return std::nullopt;
	auto match = command.find_option(word);
	return match && match->takes_value() ? match : std::nullopt;
}

void add_positional(const parser &command, const uncore::catalogue &catalogue,
		    candidates &completions)
{
	// The description of the argument "set" is the list of all sets.
	if (const auto set = command.find_option("set")) {
		const std::string names = set->description();

		for (size_t begin = 0; begin < names.size();) {
			const size_t end =
				std::min(names.find(", ", begin), names.size());

			completions.add(names.substr(begin, end - begin));
			begin = end + 2;
		}
	}
	if (command.name() != "list")
		return;
	for (const char *kind :
	     {"boxes", "events", "groups", "metrics", "values"})
		completions.add(kind);
	for (const auto &box : catalogue.boxes())
		completions.add(std::string(box.name));
}

void complete_for(const parser &command, const std::vector<std::string> &words,
		  const uncore::topology &machine, candidates &completions)
{
	const auto &catalogue = uncore::catalogue::of(machine);
	const std::string &word = words.back();
	const auto option =
		words.size() > 2
			? valued_option(command, words[words.size() - 2])
			: std::nullopt;

	if (std::find(words.begin(), words.end() - 1, "--") != words.end() - 1)
		return;
	if (option && option->name() == "event")
		event_completer(machine, completions).complete(word);
	else if (option && option->name() == "metrics")
		add_metrics(catalogue, metric_files(machine).metrics(), word,
			    completions);
	else if (option)
		return;
	else if (word.starts_with('-'))
		add_options(command, completions);
	else
		add_positional(command, catalogue, completions);
}

} // namespace

int complete(const parser &app, const std::vector<std::string> &words)
{
	const auto machine = uncore::topology::read();

	if (words.empty() || !machine)
		return failure;
	candidates completions(words.back());
	if (words.size() == 1 && words[0].starts_with('-'))
		add_options(app, completions);
	else if (words.size() == 1)
		add_subcommands(app, completions);
	else if (const auto command = app.find_command(words[0]))
		complete_for(*command, words, *machine, completions);
	completions.print();
	return success;
}

} // namespace cli
