// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// From the terms of PMU/TERMS/ to perf_event_attr: names of events and values
/// from the catalogue or from the driver's events folder, placed through the
/// format that the driver publishes.

#include "event/parts.hpp"

#include <algorithm>

#include <uncore/catalogue.hpp>

#include "catalogue_tables.hpp"
#include "sharing.hpp"
#include "sysfs.hpp"
#include "text.hpp"

namespace uncore {

namespace {

error invalid(std::string message)
{
	return {errc::invalid, std::move(message)};
}

/// Turns one event's terms into words, for one PMU.
class resolver {
public:
	resolver(const written_event &written, const pmu_info &on,
		 const topology &machine)
		: written_(written), pmu_{on}
	{
		if (on.driver == pmu_driver::other)
			return;
		const catalogue *known = catalogue::find(machine.generation());
		if (!known || !known->box(on.box))
			return;
		pmu_.known = known;
		pmu_.tables = catalogue_tables::find(machine.generation());
	}

	result<event> resolve()
	{
		if (written_.terms.empty())
			return invalid("no event is named in " +
				       quote(written_.text));
		for (const auto step :
		     {&resolver::read_terms, &resolver::read_alias,
		      &resolver::place}) {
			const auto done = (this->*step)();

			if (!done)
				return done.error();
		}
		if (const auto done = check_words(pmu_, words_, written_.text);
		    !done)
			return done.error();
		return finish();
	}

private:
	/// A value for a field, as the user or the event's name gives it.
	struct assignment {
		std::string_view field;
		std::string_view text;
		bool preset = false; ///< by the event's name
	};

	std::string where() const { return quote(written_.text); }

	const assignment *find(std::string_view field) const
	{
		for (const assignment &one : assignments_)
			if (same_name(one.field, field))
				return &one;
		return nullptr;
	}

	/// Sorts the written terms by what they are.
	result<void> read_terms()
	{
		for (const written_term &term : written_.terms) {
			const auto done =
				term.value ? read_value(term) : read_name(term);

			if (!done)
				return done;
		}
		return {};
	}

	result<void> read_value(const written_term &term)
	{
		static constexpr std::string_view words[] = {
			"config", "config1", "config2"};

		for (unsigned i = 0; i < 3; i++) {
			if (term.name != words[i])
				continue;
			const auto value = parse_number(*term.value);

			if (!value)
				return not_a_number(term, 0, UINT64_MAX);
			words_.word[i] = *value;
			words_.raw[i] = true;
			return {};
		}
		if (term.name == "name") {
			std::string_view name = *term.value;

			if (name.size() > 1 && name.starts_with('\'') &&
			    name.ends_with('\''))
				name = name.substr(1, name.size() - 2);
			if (std::any_of(name.begin(), name.end(), is_control))
				return invalid(
					"a name= has control characters");
			event_.name = name;
			return {};
		}
		if (term.name == "period") {
			const auto value = parse_number(*term.value);

			if (!value || !*value || *value > INT64_MAX)
				return not_a_number(term, 1, INT64_MAX);
			event_.sample_period = *value;
			return {};
		}
		if (find(term.name))
			return invalid(quote(term.name) +
				       " is given twice in " + where());
		assignments_.push_back({term.name, *term.value});
		return {};
	}

	/// A term without a value: an event, or a field that is to be 1.
	result<void> read_name(const written_term &term)
	{
		const bool known =
			pmu_.known && pmu_.known->event(pmu_.on.box, term.name);

		if (!known && !read_event_file(term.name) &&
		    (pmu_.on.field(term.name) ||
		     (pmu_.known &&
		      pmu_.known->field(pmu_.on.box, term.name)))) {
			if (find(term.name))
				return invalid(quote(term.name) +
					       " is given twice in " + where());
			assignments_.push_back({term.name, "1"});
			return {};
		}
		if (!alias_.empty())
			return invalid(quote(alias_) + " and " +
				       quote(term.name) +
				       " are two events in " + where());
		alias_ = term.name;
		return {};
	}

	error not_a_number(const written_term &term, uint64_t least,
			   uint64_t most) const
	{
		return invalid(std::string(term.name) + '=' +
			       quote(*term.value) + " in " + where() +
			       " is not a number from " +
			       std::to_string(least) + " to " + hex(most));
	}

	std::optional<std::string> read_event_file(std::string_view name) const
	{
		if (!is_event_file(name))
			return std::nullopt;
		return read_text(pmu_.on.folder / "events" / name);
	}

	/// What the event's name stands for, put before what the user gives.
	result<void> read_alias()
	{
		if (alias_.empty())
			return {};
		if (pmu_.known)
			event_.info = pmu_.known->event(pmu_.on.box, alias_);
		if (event_.info) {
			alias_text_ = event_.info->terms;
			event_.scale = event_.info->scale;
			event_.unit = event_.info->unit;
		} else {
			const auto text = read_event_file(alias_);

			if (!text)
				return unknown_event(pmu_, alias_);
			alias_text_ = *text;
			read_unit();
		}
		const auto terms = parse_terms(alias_text_, alias_text_);
		if (!terms)
			return terms.error();
		std::vector<assignment> presets;
		for (const written_term &term : *terms) {
			const std::string_view value = term.value.value_or("1");

			if (value != "?") {
				const auto added =
					add_preset(term.name, value, presets);
				if (!added)
					return added;
			} else {
				parameters_.push_back(term.name);
			}
		}
		assignments_.insert(assignments_.begin(), presets.begin(),
				    presets.end());
		return {};
	}

	result<void> add_preset(std::string_view name, std::string_view value,
				std::vector<assignment> &presets)
	{
		const assignment *given = find(name);

		if (given && parse_number(given->text) != parse_number(value))
			return invalid(
				"the event " + quote(alias_) + " has " +
				std::string(name) + '=' +
				std::string(value.substr(0, 20)) +
				", so that " + where() +
				" is another event: write it without the name");
		if (name == "config" || name == "config1" ||
		    name == "config2") {
			const auto number = parse_number(value);
			const size_t word = name == "config"
						    ? 0
						    : size_t(name.back() - '0');

			if (!number)
				return invalid("the driver's event " +
					       quote(alias_) + " is malformed");
			words_.word[word] = *number;
		} else if (!given) {
			presets.push_back({name, value, true});
		}
		return {};
	}

	/// Is a field given, or the word that it is in, or a part of it?
	bool is_given(std::string_view name) const
	{
		const format_field *field = pmu_.on.field(name);

		if (find(name))
			return true;
		if (!field)
			return false;
		if (words_.raw[field->word])
			return true;
		for (const assignment &one : assignments_) {
			const format_field *other = pmu_.on.field(one.field);

			if (other && other->word == field->word &&
			    other->place(other->max()) &
				    field->place(field->max()))
				return true;
		}
		return false;
	}

	void read_unit()
	{
		const auto scale = read_event_file_attribute(".scale");
		const auto unit = read_event_file_attribute(".unit");
		const auto factor =
			scale ? parse_decimal(*scale) : std::nullopt;

		if (factor)
			event_.scale = *factor;
		if (unit && unit->size() < 64 &&
		    std::none_of(unit->begin(), unit->end(), is_control))
			event_.unit = *unit;
	}

	std::optional<std::string>
	read_event_file_attribute(const char *suffix) const
	{
		return read_text(pmu_.on.folder / "events" /
				 (std::string(alias_) + suffix));
	}

	/// Puts all values into their fields.
	result<void> place()
	{
		// A packet's name means that packet and no other.
		for (size_t i = 0; i < assignments_.size(); i++) {
			const auto done = imply_mask(assignments_[i]);

			if (!done)
				return done;
		}
		for (const std::string_view parameter : parameters_)
			if (!is_given(parameter))
				return missing_field(pmu_, alias_, parameter);
		for (const assignment &one : assignments_) {
			const auto value = read_number(one);

			if (!value)
				return value.error();
			const auto done = place_value(one, *value);
			if (!done)
				return done;
		}
		return {};
	}

	/// match_opc=NAME without mask_opc would match every packet.
	result<void> imply_mask(const assignment given)
	{
		const std::string_view what = given.field;

		if (!pmu_.known || given.preset || !what.starts_with("match_"))
			return {};
		const value_info *value =
			pmu_.known->value(pmu_.on.box, what, given.text);
		if (!value)
			return {};
		const auto add_mask = [&](std::string_view match) {
			const std::string mask =
				"mask_" + std::string(match.substr(6));
			const field_info *field =
				pmu_.known->field(pmu_.on.box, mask);

			if (field && !find(mask) && !words_.raw[2])
				assignments_.push_back(
					{field->name, "-1", true});
		};
		add_mask(what);
		if (value->message_class.empty() || words_.raw[1])
			return {};
		const value_info *wanted = pmu_.known->value(
			pmu_.on.box, "match_mc", value->message_class);
		const assignment *other = find("match_mc");
		if (!wanted)
			return {};
		if (!other) {
			assignments_.push_back(
				{"match_mc", wanted->name, true});
		} else {
			const auto number = read_number(*other);

			if (!number)
				return number.error();
			if (*number != wanted->value)
				return invalid(
					"match_opc=" +
					std::string(value->name) +
					" is a message of class " +
					std::string(value->message_class) +
					", and " + where() +
					" asks for another");
		}
		add_mask("match_mc");
		return {};
	}

	/// A number, a name of the catalogue, or several of them with +.
	result<uint64_t> read_number(const assignment &given) const
	{
		uint64_t sum = 0;

		if (given.preset && given.text == "-1") {
			const format_field *field = pmu_.on.field(given.field);

			return field ? field->max() : 0;
		}
		if (const auto number = parse_number(given.text))
			return *number;
		const auto parts = split(given.text, '+');
		for (const std::string_view part : parts) {
			const value_info *named =
				pmu_.known ? pmu_.known->value(pmu_.on.box,
							       given.field,
							       trim(part))
					   : nullptr;

			if (!named)
				return unknown_value(pmu_, given.field,
						     trim(part));
			if (parts.size() > 1 && !named->combines)
				return invalid(std::string(given.field) +
					       " takes one value, not " +
					       quote(given.text));
			sum |= named->value;
		}
		return sum;
	}

	result<void> place_value(const assignment &given, uint64_t value)
	{
		if (pmu_.in_tree() && value)
			if (const auto right = check_in_tree_field(
				    pmu_.on, *pmu_.tables, given.field, value);
			    !right)
				return right;
		const auto has = check_field(pmu_, given.field, value);
		const format_field *field = pmu_.on.field(given.field);
		if (!field) {
			// intel_uncore's PCU has no umask, and needs none.
			if (given.preset && !value)
				return {};
			return has;
		}
		if (value > field->max())
			return invalid(pmu_.on.name + ": " +
				       std::string(given.field) + '=' +
				       hex(value) + " does not fit, " +
				       hex(field->max()) + " is the most");
		// A field in the wrong place must not clear others.
		if (pmu_.in_tree() && !value)
			return {};
		words_.word[field->word] &= ~field->place(field->max());
		words_.word[field->word] |= field->place(value);
		return {};
	}

	result<event> finish()
	{
		event_.text = written_.text;
		if (event_.name.empty())
			event_.name = event_.text;
		event_.type = pmu_.on.type;
		event_.config = words_.word[0];
		event_.config1 = words_.word[1];
		event_.config2 = words_.word[2];
		event_.pmu = pmu_.on.cpus.empty() ? nullptr : &pmu_.on;
		if (!event_.info && pmu_.known)
			event_.info = find_info(pmu_, words_);
		if (const auto heard = check_filters(pmu_, words_, event_);
		    !heard)
			return heard.error();
		const auto done = apply_modifiers(
			written_, pmu_.on.driver != pmu_driver::other, event_);
		if (!done)
			return done.error();
		return std::move(event_);
	}

	const written_event &written_;
	known_pmu pmu_;
	std::string_view alias_; ///< the event's name
	std::string alias_text_; ///< the terms that it stands for
	std::vector<std::string_view> parameters_; ///< fields that it needs
	std::vector<assignment> assignments_;
	config_words words_;
	event event_;
};

} // namespace

result<event> resolve_on_pmu(const written_event &written, const pmu_info &on,
			     const topology &machine)
{
	return resolver(written, on, machine).resolve();
}

} // namespace uncore
