// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Parser of event lists: groups, PMUs, terms, modifiers.  pmu.cpp and core.cpp
/// resolve the parts.

#include <uncore/event.hpp>

#include <algorithm>

#include <uncore/catalogue.hpp>

#include "event/parts.hpp"
#include "text.hpp"

namespace uncore {

namespace {

constexpr size_t most_text = 64 * 1024;
constexpr size_t most_events = 4096;

error malformed(std::string message)
{
	return {errc::invalid, std::move(message)};
}

/// Measure an event's text, up to a comma or brace outside slashes and quotes.
size_t event_length(std::string_view text)
{
	bool slashes = false, quotes = false;

	for (size_t i = 0; i < text.size(); i++) {
		const char c = text[i];

		if (quotes)
			quotes = c != '\'';
		else if (slashes && c == '\'')
			quotes = true;
		else if (c == '/')
			slashes = !slashes;
		else if (!slashes && (c == ',' || c == '{' || c == '}'))
			return i;
	}
	return text.size();
}

/// Find the closing slash of the terms at the beginning of @p text.
size_t closing_slash(std::string_view text)
{
	bool quotes = false;

	for (size_t i = 0; i < text.size(); i++) {
		if (text[i] == '\'')
			quotes = !quotes;
		else if (text[i] == '/' && !quotes)
			return i;
	}
	return text.npos;
}

/// Measure a term, up to a comma outside quotes.
size_t term_length(std::string_view text)
{
	bool quotes = false;

	for (size_t i = 0; i < text.size(); i++) {
		if (text[i] == '\'')
			quotes = !quotes;
		else if (text[i] == ',' && !quotes)
			return i;
	}
	return text.size();
}

result<written_event> take_apart(std::string_view text)
{
	written_event written;

	written.text = text;
	const size_t slash = text.find('/');
	if (slash == text.npos) {
		const auto [name, modifiers] = cut(text, ':');

		written.name = name;
		written.modifiers = modifiers;
		return written;
	}
	const size_t end = closing_slash(text.substr(slash + 1));
	if (end == text.npos)
		return malformed("there is no / at the end of " + quote(text));

	written.name = text.substr(0, slash);
	written.has_terms = true;
	written.modifiers = text.substr(slash + 1 + end + 1);
	if (written.modifiers.starts_with(':'))
		written.modifiers.remove_prefix(1);
	auto terms = parse_terms(text.substr(slash + 1, end), text);
	if (!terms)
		return terms.error();
	written.terms = std::move(*terms);
	return written;
}

/// Find the PMUs that an event names; the error explains a missing PMU.
result<std::vector<const pmu_info *>> find_pmus(const written_event &written,
						const topology &machine)
{
	auto pmus = machine.match(written.name);

	if (!pmus.empty())
		return pmus;
	if (const pmu_info *pmu = machine.find(written.name))
		return std::vector<const pmu_info *>{pmu};

	const std::string name = quote(written.name);
	if (machine.pmus().empty())
		return error{
			errc::no_driver,
			"no PMU is called " + name +
				", and no uncore driver is loaded: load xeon_uncore ('uncore check' says more)"};

	// The event string may have the prefix of another machine.
	const std::string_view bare = cut(written.name, '_').second;
	if (const auto matches = machine.match(bare);
	    !bare.empty() && !matches.empty())
		return error{errc::not_found,
			     "no PMU is called " + name + "; here it is " +
				     matches.front()->prefix + '_' +
				     std::string(bare) + ", or " +
				     std::string(bare) + " for any prefix"};

	if (const catalogue *generation_names =
		    catalogue::find(machine.generation()))
		if (const std::string reason =
			    box_elsewhere(*generation_names, written.name);
		    !reason.empty())
			return error{errc::not_found, "no PMU is called " +
							      name + ": " +
							      reason};

	std::vector<std::string_view> names;
	for (const pmu_info &candidate : machine.pmus()) {
		names.push_back(candidate.name);
		names.push_back(candidate.box);
	}
	const auto near = nearest_names(written.name, names, 3);
	return error{errc::not_found,
		     "no PMU is called " + name +
			     (near.empty() ? "; 'uncore topology' lists them"
					   : ": did you mean " +
						     join(near, " or ") + "?")};
}

result<event_term> resolve(const written_event &written,
			   const topology &machine)
{
	event_term term;

	term.text = written.text;
	if (!written.has_terms) {
		if (const std::string spelling =
			    perf_spelling(written.name, machine);
		    !spelling.empty()) {
			auto translated = take_apart(spelling);

			if (!translated)
				return translated.error();
			translated->modifiers = written.modifiers;

			auto resolved = resolve(*translated, machine);

			if (!resolved)
				return resolved.error();
			resolved->text = resolved->name = written.text;
			for (event &member : resolved->events)
				member.text = member.name = written.text;
			return resolved;
		}

		auto core = resolve_core_name(written, machine);

		if (!core)
			return core.error();
		term.name = core->name;
		term.events.push_back(std::move(*core));
		return term;
	}
	const auto pmus = find_pmus(written, machine);
	if (!pmus)
		return pmus.error();
	for (const pmu_info *pmu : *pmus) {
		auto resolved = resolve_on_pmu(written, *pmu, machine);

		if (!resolved)
			return resolved.error();
		term.events.push_back(std::move(*resolved));
	}
	term.name = term.events.front().name;
	return term;
}

class list_parser {
public:
	list_parser(std::string_view text, const topology &machine)
		: rest_(text), machine_(machine)
	{
	}

	result<std::vector<event_group>> parse()
	{
		do {
			auto group = parse_group();

			if (!group)
				return group.error();
			groups_.push_back(std::move(*group));
		} while (accept(','));
		skip_space();
		if (!rest_.empty())
			return malformed("expected a comma at " + quote(rest_));
		return std::move(groups_);
	}

private:
	void skip_space()
	{
		while (!rest_.empty() && is_space(rest_.front()))
			rest_.remove_prefix(1);
	}

	bool accept(char c)
	{
		skip_space();
		if (!rest_.starts_with(c))
			return false;
		rest_.remove_prefix(1);
		return true;
	}

	result<event_group> parse_group()
	{
		event_group group;

		group.braces = accept('{');
		do {
			auto term = parse_event();

			if (!term)
				return term.error();
			group.terms.push_back(std::move(*term));
		} while (group.braces && accept(','));
		if (!group.braces)
			return group;
		if (!accept('}'))
			return malformed("there is no } at the end of a group");
		if (!accept(':'))
			return group;
		const std::string_view modifiers =
			trim(rest_.substr(0, event_length(rest_)));
		if (modifiers.empty() ||
		    modifiers.find_first_not_of("SDW") != modifiers.npos)
			return malformed(
				"a group can be followed by :W only, not by :" +
				std::string(quote(modifiers)));
		group.weak = modifiers.find('W') != modifiers.npos;
		rest_.remove_prefix(event_length(rest_));
		return group;
	}

	result<event_term> parse_event()
	{
		skip_space();
		const std::string_view text =
			rest_.substr(0, event_length(rest_));

		if (trim(text).empty())
			return malformed(
				rest_.empty() ? "an event is missing at the end"
					      : "an event is missing before " +
							quote(rest_));
		rest_.remove_prefix(text.size());
		const auto written = take_apart(trim(text));
		if (!written)
			return written.error();
		auto term = resolve(*written, machine_);
		if (!term)
			return term;
		events_ += term->events.size();
		if (events_ > most_events)
			return malformed("these are more than " +
					 std::to_string(most_events) +
					 " events");
		return term;
	}

	std::string_view rest_;
	const topology &machine_;
	std::vector<event_group> groups_;
	size_t events_ = 0;
};

} // namespace

result<std::vector<written_term>> parse_terms(std::string_view text,
					      std::string_view where)
{
	std::vector<written_term> terms;

	while (!trim(text).empty()) {
		const size_t end = term_length(text);
		const std::string_view part = trim(text.substr(0, end));

		text.remove_prefix(std::min(end + 1, text.size()));
		const auto [name, value] = cut(part, '=');
		written_term term{trim(name), std::nullopt};

		if (part.find('=') != part.npos)
			term.value = trim(value);
		if (term.name.empty())
			return malformed("a term is empty in " + quote(where));
		if (term.value && term.value->empty())
			return malformed(quote(term.name) +
					 " has no value in " + quote(where));
		terms.push_back(term);
	}
	return terms;
}

result<void> apply_modifiers(const written_event &written, bool uncore,
			     event &target)
{
	bool user = false, kernel = false, hypervisor = false;

	for (const char c : written.modifiers) {
		// modifiers of sampling, pinning and weak groups in perf
		if (c == 'S' || c == 'D' || c == 'W')
			continue;
		if (uncore)
			return malformed(
				"the uncore cannot tell user from kernel, nor guest from host: leave out what follows the / in " +
				quote(written.text));
		if (c == 'u')
			user = true;
		else if (c == 'k')
			kernel = true;
		else if (c == 'h')
			hypervisor = true;
		else
			return malformed(
				"of the modifiers, u, k and h are known here, not those of " +
				quote(written.text));
	}
	if (user || kernel || hypervisor) {
		target.exclude_user = !user;
		target.exclude_kernel = !kernel;
		target.exclude_hv = !hypervisor;
	}
	return {};
}

result<std::vector<event_group>> parse_events(std::string_view text,
					      const topology &machine)
{
	if (text.size() > most_text)
		return malformed("the event list is longer than " +
				 std::to_string(most_text) + " characters");
	auto groups = list_parser(text, machine).parse();
	if (!groups)
		return error{groups.error().code,
			     one_line(groups.error().message)};
	return groups;
}

} // namespace uncore
