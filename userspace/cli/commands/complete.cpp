// SPDX-License-Identifier: GPL-2.0-or-later
// uncore __complete WORD...: what the last of the words of a command line may
// become, one a line, for the shell's completion (completion/uncore.bash).
// Subcommands and options are read from the command's own, so that none is
// missing.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <uncore/catalogue.hpp>
#include <uncore/topology.hpp>

#include "commands/commands.hpp"

namespace cli {

namespace {

/// Candidates in order, each once, that begin as the word does.
class candidates {
public:
	explicit candidates(std::string word) : word_(std::move(word)) {}

	void add(std::string candidate)
	{
		if (candidate.starts_with(word_))
			found_.insert(std::move(candidate));
	}

	void print() const
	{
		for (const std::string &one : found_)
			fmt::print("{}\n", one);
	}

private:
	std::string word_;
	std::set<std::string> found_;
};

void add_options(const parser &command, candidates &to)
{
	for (const option &one : command.options()) {
		if (one.is_hidden())
			continue;
		for (std::string &name : one.spellings())
			to.add(std::move(name));
	}
}

void add_subcommands(const parser &app, candidates &to)
{
	for (const parser &command : app.commands())
		to.add(command.name());
}

/// Where the part of @p text begins that is behind the last of @p separators,
/// outside slashes.
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

class event_completer {
public:
	event_completer(const uncore::topology &machine, candidates &to)
		: machine_(machine), to_(to)
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
			to_.add(head + pmu.name + '/');
			to_.add(head + pmu.prefix + '_' + pmu.box + '/');
		}
		for (const auto &box : known_.boxes())
			to_.add(head + std::string(box.name) + '/');
		for (const char *name : {"cycles", "instructions"})
			to_.add(head + name);
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
		for (const auto &field : known_.fields())
			if (field.box == box)
				to_.add(head + std::string(field.name) + '=');
		if (has_event)
			return;
		for (const auto &event : known_.events()) {
			if (event.box != box)
				continue;
			const std::string name = head + std::string(event.name);

			if (event.parameters.empty())
				to_.add(name + '/');
			else
				to_.add(fmt::format("{},{}=", name,
						    event.parameters.front()));
		}
	}

	void add_values(const std::string &head, const std::string &box,
			std::string_view term, size_t equals)
	{
		const std::string_view field = term.substr(0, equals);
		const size_t plus = term.rfind('+');
		const std::string before =
			head +
			std::string(term.substr(
				0, (plus == term.npos ? equals : plus) + 1));

		for (const auto &value : known_.values())
			if (value.box == box && value.field == field)
				to_.add(before + std::string(value.name));
	}

	const uncore::topology &machine_;
	const uncore::catalogue &known_ = uncore::catalogue::of(machine_);
	candidates &to_;
};

void add_groups(const uncore::catalogue &known, const std::string &head,
		candidates &to)
{
	for (const auto &metric : known.metrics())
		for (const auto group : metric.groups)
			to.add(head + std::string(group));
}

void add_metrics(const uncore::catalogue &known, std::string_view word,
		 candidates &to)
{
	const std::string head(word.substr(0, last_part(word, ",")));

	add_groups(known, head, to);
	for (const auto &metric : known.metrics())
		to.add(head + std::string(metric.name));
}

/// The option that @p word is, if it wants a value.
std::optional<option> valued_option(const parser &command,
				    const std::string &word)
{
	if (!word.starts_with('-'))
		return std::nullopt;
	auto found = command.find_option(word);
	return found && found->takes_value() ? found : std::nullopt;
}

void add_positional(const parser &command, const uncore::catalogue &known,
		    candidates &to)
{
	// The description of what a set may be is the list of them.
	if (const auto set = command.find_option("set")) {
		const std::string names = set->description();

		for (size_t at = 0; at < names.size();) {
			const size_t end =
				std::min(names.find(", ", at), names.size());

			to.add(names.substr(at, end - at));
			at = end + 2;
		}
	}
	if (command.name() != "list")
		return;
	for (const char *kind :
	     {"boxes", "events", "groups", "metrics", "values"})
		to.add(kind);
	for (const auto &box : known.boxes())
		to.add(std::string(box.name));
}

void complete_for(const parser &command, const std::vector<std::string> &words,
		  const uncore::topology &machine, candidates &to)
{
	const auto &known = uncore::catalogue::of(machine);
	const std::string &word = words.back();
	const auto option =
		words.size() > 2
			? valued_option(command, words[words.size() - 2])
			: std::nullopt;

	if (std::find(words.begin(), words.end() - 1, "--") != words.end() - 1)
		return;
	if (option && option->name() == "event")
		event_completer(machine, to).complete(word);
	else if (option && option->name() == "metrics")
		add_metrics(known, word, to);
	else if (option)
		return;
	else if (word.starts_with('-'))
		add_options(command, to);
	else
		add_positional(command, known, to);
}

} // namespace

int complete(const parser &app, const std::vector<std::string> &words)
{
	const auto machine = uncore::topology::read();

	if (words.empty() || !machine)
		return failure;
	candidates found(words.back());
	if (words.size() == 1 && words[0].starts_with('-'))
		add_options(app, found);
	else if (words.size() == 1)
		add_subcommands(app, found);
	else if (const auto command = app.find_command(words[0]))
		complete_for(*command, words, *machine, found);
	found.print();
	return success;
}

} // namespace cli
