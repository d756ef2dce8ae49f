// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Resolver from the terms of PMU/TERMS/ to perf_event_attr.  Names of events
/// and values come from the catalogue or the driver's events folder, field
/// positions from the driver's format folder.
///
/// A name of an event is an alias: it stands for terms, such as
/// "event=0x4,umask=0x3".  A term with the value ? is a parameter, for which
/// the user must give a value.

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

/// Turn one event's terms into config words, for one PMU.
class resolver {
public:
	resolver(const written_event &written, const pmu_info &pmu,
		 const topology &machine)
		: written_(written), pmu_{pmu}
	{
		if (pmu.driver == pmu_driver::other)
			return;
		const catalogue *names = catalogue::find(machine.generation());
		if (!names || !names->box(pmu.box))
			return;
		pmu_.names = names;
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
			const auto outcome = (this->*step)();

			if (!outcome)
				return outcome.error();
		}
		if (const auto outcome =
			    check_words(pmu_, words_, written_.text);
		    !outcome)
			return outcome.error();
		return finish();
	}

private:
	/// Value for a field, from the user or from the alias.
	struct assignment {
		std::string_view field;
		std::string_view text;
		bool preset = false; ///< from the alias, not from the user
	};

	std::string where() const { return quote(written_.text); }

	const assignment *find(std::string_view field) const
	{
		for (const assignment &candidate : assignments_)
			if (same_name(candidate.field, field))
				return &candidate;
		return nullptr;
	}

	/// Sort the written terms into names and values.
	result<void> read_terms()
	{
		for (const written_term &term : written_.terms) {
			const auto outcome =
				term.value ? read_value(term) : read_name(term);

			if (!outcome)
				return outcome;
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

	/// Read a term without a value: an event, or a field to set to 1.
	result<void> read_name(const written_term &term)
	{
		const bool is_listed =
			pmu_.names &&
			pmu_.names->event(pmu_.pmu.box, term.name);

		if (!is_listed && !read_event_file(term.name) &&
		    (pmu_.pmu.field(term.name) ||
		     (pmu_.names &&
		      pmu_.names->field(pmu_.pmu.box, term.name)))) {
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
		return read_text(pmu_.pmu.folder / "events" / name);
	}

	/// Insert the terms of the alias before the user's terms.
	result<void> read_alias()
	{
		if (alias_.empty())
			return {};
		if (pmu_.names)
			event_.info = pmu_.names->event(pmu_.pmu.box, alias_);
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
		const assignment *written = find(name);

		if (written &&
		    parse_number(written->text) != parse_number(value))
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
		} else if (!written) {
			presets.push_back({name, value, true});
		}
		return {};
	}

	/// Check whether the user set a parameter: the field itself, the whole
	/// config word of the field, or another field with some of its bits.
	bool is_given(std::string_view name) const
	{
		const format_field *field = pmu_.pmu.field(name);

		if (find(name))
			return true;
		if (!field)
			return false;
		if (words_.raw[field->word])
			return true;
		for (const assignment &candidate : assignments_) {
			const format_field *candidate_field =
				pmu_.pmu.field(candidate.field);

			if (candidate_field &&
			    candidate_field->word == field->word &&
			    candidate_field->place(candidate_field->max()) &
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
		return read_text(pmu_.pmu.folder / "events" /
				 (std::string(alias_) + suffix));
	}

	/// Place all values into their fields.
	result<void> place()
	{
		for (size_t i = 0; i < assignments_.size(); i++) {
			const auto outcome = imply_mask(assignments_[i]);

			if (!outcome)
				return outcome;
		}
		for (const std::string_view parameter : parameters_)
			if (!is_given(parameter))
				return missing_field(pmu_, alias_, parameter);
		for (const assignment &entry : assignments_) {
			const auto value = read_number(entry);

			if (!value)
				return value.error();
			const auto outcome = place_value(entry, *value);
			if (!outcome)
				return outcome;
		}
		return {};
	}

	/// Add the mask for a named value of a match field, as in
	/// match_opc=NAME. The hardware compares a packet only in the bits of
	/// the mask, so with a mask of 0 every packet would match.
	result<void> imply_mask(const assignment match)
	{
		const std::string_view field_name = match.field;

		if (!pmu_.names || match.preset ||
		    !field_name.starts_with("match_"))
			return {};
		const value_info *value =
			pmu_.names->value(pmu_.pmu.box, field_name, match.text);
		if (!value)
			return {};
		const auto add_mask = [&](std::string_view name_of_match) {
			const std::string mask =
				"mask_" + std::string(name_of_match.substr(6));
			const field_info *field =
				pmu_.names->field(pmu_.pmu.box, mask);

			if (field && !find(mask) && !words_.raw[2])
				assignments_.push_back(
					{field->name, "-1", true});
		};
		add_mask(field_name);
		if (value->message_class.empty() || words_.raw[1])
			return {};
		const value_info *message_class = pmu_.names->value(
			pmu_.pmu.box, "match_mc", value->message_class);
		const assignment *class_match = find("match_mc");
		if (!message_class)
			return {};
		if (!class_match) {
			assignments_.push_back(
				{"match_mc", message_class->name, true});
		} else {
			const auto number = read_number(*class_match);

			if (!number)
				return number.error();
			if (*number != message_class->value)
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

	/// Read a number, or names of the catalogue joined by +.
	result<uint64_t> read_number(const assignment &entry) const
	{
		uint64_t sum = 0;

		if (entry.preset && entry.text == "-1") {
			const format_field *field = pmu_.pmu.field(entry.field);

			return field ? field->max() : 0;
		}
		if (const auto number = parse_number(entry.text))
			return *number;
		const auto parts = split(entry.text, '+');
		for (const std::string_view part : parts) {
			const value_info *named =
				pmu_.names ? pmu_.names->value(pmu_.pmu.box,
							       entry.field,
							       trim(part))
					   : nullptr;

			if (!named)
				return unknown_value(pmu_, entry.field,
						     trim(part));
			if (parts.size() > 1 && !named->combines)
				return invalid(std::string(entry.field) +
					       " takes one value, not " +
					       quote(entry.text));
			sum |= named->value;
		}
		return sum;
	}

	result<void> place_value(const assignment &entry, uint64_t value)
	{
		if (pmu_.in_tree() && value)
			if (const auto checked = check_in_tree_field(
				    pmu_.pmu, *pmu_.tables, entry.field, value);
			    !checked)
				return checked;
		const auto field_check = check_field(pmu_, entry.field, value);
		const format_field *field = pmu_.pmu.field(entry.field);
		if (!field) {
			// A preset of 0 needs no field: intel_uncore's PCU has
			// no umask field.
			if (entry.preset && !value)
				return {};
			return field_check;
		}
		if (value > field->max())
			return invalid(pmu_.pmu.name + ": " +
				       std::string(entry.field) + '=' +
				       hex(value) + " does not fit, " +
				       hex(field->max()) + " is the most");
		// intel_uncore may publish a field at a wrong position, where 0
		// would clear the bits of another field.
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
		event_.type = pmu_.pmu.type;
		event_.config = words_.word[0];
		event_.config1 = words_.word[1];
		event_.config2 = words_.word[2];
		event_.pmu = pmu_.pmu.cpus.empty() ? nullptr : &pmu_.pmu;
		if (!event_.info && pmu_.names)
			event_.info = find_info(pmu_, words_);
		if (const auto checked = check_filters(pmu_, words_, event_);
		    !checked)
			return checked.error();
		const auto applied = apply_modifiers(
			written_, pmu_.pmu.driver != pmu_driver::other, event_);
		if (!applied)
			return applied.error();
		return std::move(event_);
	}

	const written_event &written_;
	known_pmu pmu_;
	std::string_view alias_;		   ///< name of the event
	std::string alias_text_;		   ///< terms of the alias
	std::vector<std::string_view> parameters_; ///< fields with ?
	std::vector<assignment> assignments_;
	config_words words_;
	event event_;
};

} // namespace

result<event> resolve_on_pmu(const written_event &written, const pmu_info &pmu,
			     const topology &machine)
{
	return resolver(written, pmu, machine).resolve();
}

} // namespace uncore
