// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// From the terms of PMU/TERMS/ to perf_event_attr: names of events and values
/// from the catalogue or from the driver's events folder, placed through the
/// format that the driver publishes.

#include "event_parts.hpp"

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

std::string hex(uint64_t value)
{
	char text[2 + 16 + 1];

	snprintf(text, sizeof(text), "0x%llx",
		 static_cast<unsigned long long>(value));
	return text;
}

/// A name that may be a file's in an events folder, and is no attribute of one.
bool is_event_file(std::string_view name)
{
	static constexpr std::string_view attributes[] = {
		".scale", ".unit", ".snapshot", ".per-pkg"};

	for (const std::string_view suffix : attributes)
		if (name.ends_with(suffix))
			return false;
	return !name.empty() && name.front() != '.' && name.size() < 256 &&
	       std::all_of(name.begin(), name.end(), [](char c) {
		       return is_word(c) || c == '.' || c == '-';
	       });
}

/// perf's terms that are no field of any PMU and that mean nothing here.
bool is_perf_word(std::string_view name)
{
	static constexpr std::string_view words[] = {
		"freq",	   "time",	 "call-graph", "stack-size",
		"inherit", "no-inherit", "max-stack",  "overwrite",
		"percore", "aux-output", "branch_type"};

	return std::find(std::begin(words), std::end(words), name) !=
	       std::end(words);
}

/// Turns one event's terms into words, for one PMU.
class resolver {
public:
	resolver(const written_event &written, const pmu &on,
		 const topology &machine)
		: written_(written), on_(on)
	{
		if (on.driver == driver::other)
			return;
		const catalogue *known = catalogue::find(machine.generation());
		if (!known || !known->box(on.box))
			return;
		catalogue_ = known;
		tables_ = catalogue_tables::find(machine.generation());
	}

	result<event> resolve()
	{
		if (written_.terms.empty())
			return invalid("no event is named in " +
				       quote(written_.text));
		for (const auto step :
		     {&resolver::read_terms, &resolver::read_alias,
		      &resolver::place, &resolver::check}) {
			const auto done = (this->*step)();

			if (!done)
				return done.error();
		}
		return finish();
	}

private:
	/// A value for a field, as the user or the event's name gives it.
	struct assignment {
		std::string_view field;
		std::string_view text;
		bool preset = false; ///< by the event's name
	};

	bool in_tree() const
	{
		return tables_ && on_.driver == driver::intel_uncore;
	}

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
				return not_a_number(term);
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
				return not_a_number(term);
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
			catalogue_ && catalogue_->event(on_.box, term.name);

		if (!known && !read_event_file(term.name) &&
		    (on_.field(term.name) ||
		     (catalogue_ && catalogue_->field(on_.box, term.name)))) {
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

	error not_a_number(const written_term &term) const
	{
		return invalid(std::string(term.name) + '=' +
			       quote(*term.value) + " is not a number in " +
			       where());
	}

	std::optional<std::string> read_event_file(std::string_view name) const
	{
		if (!is_event_file(name))
			return std::nullopt;
		return read_text(on_.folder / "events" / name);
	}

	/// What the event's name stands for, put before what the user gives.
	result<void> read_alias()
	{
		if (alias_.empty())
			return {};
		if (catalogue_)
			event_.info = catalogue_->event(on_.box, alias_);
		if (event_.info) {
			alias_text_ = event_.info->terms;
			event_.scale = event_.info->scale;
			event_.unit = event_.info->unit;
		} else {
			const auto text = read_event_file(alias_);

			if (!text)
				return unknown_event();
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
			return invalid("the event " + quote(alias_) + " has " +
				       std::string(name) + '=' +
				       std::string(value.substr(0, 20)) +
				       ", so that " + where() +
				       " is another event: write it without "
				       "the name");
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
		const format_field *field = on_.field(name);

		if (find(name))
			return true;
		if (!field)
			return false;
		if (words_.raw[field->word])
			return true;
		for (const assignment &one : assignments_) {
			const format_field *other = on_.field(one.field);

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
		return read_text(on_.folder / "events" /
				 (std::string(alias_) + suffix));
	}

	error unknown_event() const
	{
		const std::string intro =
			on_.name + " has no event " + quote(alias_);
		std::vector<std::string_view> names;
		std::vector<std::string> files;

		if (catalogue_)
			for (const event_info &info : catalogue_->events())
				if (info.box == on_.box)
					names.push_back(info.name);
		files = list_folder(on_.folder / "events");
		for (const std::string &file : files)
			if (is_event_file(file))
				names.push_back(file);
		for (const format_field &field : on_.formats)
			names.push_back(field.name);
		const auto near = nearest_names(alias_, names, 3);
		if (!near.empty())
			return {errc::not_found, intro + ": did you mean " +
							 join(near, ", ") +
							 '?'};
		if (!catalogue_ && names.size() == on_.formats.size())
			return {errc::not_found,
				intro + ": libuncore knows no names for this "
					"processor, and the driver has none"};
		return {errc::not_found,
			intro + "; 'uncore list " +
				(catalogue_ ? on_.box : on_.name) +
				"' shows what it has"};
	}

	/// An event needs a field that was not given.
	error missing(std::string_view name) const
	{
		const format_field *field = on_.field(name);
		std::vector<std::string> shown;

		if (in_tree()) {
			const auto has =
				check_in_tree_field(on_, *tables_, name, 1);

			if (!has && !field)
				return has.error();
		}
		if (catalogue_)
			for (const value_info &value : catalogue_->values())
				if (value.box == on_.box &&
				    value.field == name && shown.size() < 4)
					shown.push_back(
						std::string(value.name) + " (" +
						hex(value.value) + ')');
		std::string message = on_.name + '/' + std::string(alias_) +
				      "/ needs " + std::string(name) + "=";
		for (size_t i = 0; i < shown.size(); i++)
			message += (i ? ", " : ", such as ") + shown[i];
		if (!shown.empty())
			message += "; 'uncore list -v " + std::string(name) +
				   "' has all";
		else if (field)
			message += ", a number up to " + hex(field->max());
		return {errc::not_found, message};
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
				return missing(parameter);
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

		if (!catalogue_ || given.preset || !what.starts_with("match_"))
			return {};
		const value_info *value =
			catalogue_->value(on_.box, what, given.text);
		if (!value)
			return {};
		const auto add_mask = [&](std::string_view match) {
			const std::string mask =
				"mask_" + std::string(match.substr(6));
			const field_info *field =
				catalogue_->field(on_.box, mask);

			if (field && !find(mask) && !words_.raw[2])
				assignments_.push_back(
					{field->name, "-1", true});
		};
		add_mask(what);
		if (value->message_class.empty() || words_.raw[1])
			return {};
		const value_info *wanted = catalogue_->value(
			on_.box, "match_mc", value->message_class);
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
			const format_field *field = on_.field(given.field);

			return field ? field->max() : 0;
		}
		if (const auto number = parse_number(given.text))
			return *number;
		const auto parts = split(given.text, '+');
		for (const std::string_view part : parts) {
			const value_info *named =
				catalogue_ ? catalogue_->value(on_.box,
							       given.field,
							       trim(part))
					   : nullptr;

			if (!named)
				return unknown_value(given, trim(part));
			if (parts.size() > 1 && !named->combines)
				return invalid(std::string(given.field) +
					       " takes one value, not " +
					       quote(given.text));
			sum |= named->value;
		}
		return sum;
	}

	error unknown_value(const assignment &given,
			    std::string_view part) const
	{
		std::vector<std::string_view> names;

		if (!on_.field(given.field)) {
			// the field is what is wrong
			if (const auto known = check_field(given.field, 0);
			    !known)
				return known.error();
		}
		if (catalogue_)
			for (const value_info &value : catalogue_->values())
				if (value.box == on_.box &&
				    same_name(value.field, given.field))
					names.push_back(value.name);
		std::string message = std::string(given.field) + '=' +
				      quote(part) + " is no number";
		if (names.empty())
			return {errc::invalid, message};
		const auto near = nearest_names(part, names, 3);
		if (!near.empty())
			return {errc::not_found,
				message + " and no name: did you mean " +
					join(near, ", ") + '?'};
		const bool more = names.size() > 4;
		names.resize(more ? 4 : names.size());
		return {errc::not_found, message + " and no name; there are " +
						 join(names, ", ") +
						 (more ? " and others" : "")};
	}

	/// Why a field that the driver does not publish is not there.
	result<void> check_field(std::string_view name, uint64_t value) const
	{
		if (on_.field(name))
			return {};
		if (is_perf_word(name))
			return error{errc::unsupported,
				     "perf's term " + quote(name) +
					     " has no meaning here"};
		if (in_tree())
			if (const auto has = check_in_tree_field(on_, *tables_,
								 name, value);
			    !has)
				return has;
		if (catalogue_ && catalogue_->field(on_.box, name))
			return error{errc::unsupported,
				     on_.name + ": the driver has no field " +
					     std::string(name)};
		std::vector<std::string_view> names;
		for (const format_field &field : on_.formats)
			names.push_back(field.name);
		const auto near = nearest_names(name, names, 3);
		return error{errc::not_found,
			     on_.name + " has no field " + quote(name) +
				     (near.empty() ? "; it has " + join(names)
						   : ": did you mean " +
							     join(near, ", ") +
							     '?')};
	}

	result<void> place_value(const assignment &given, uint64_t value)
	{
		if (in_tree() && value)
			if (const auto right = check_in_tree_field(
				    on_, *tables_, given.field, value);
			    !right)
				return right;
		const auto has = check_field(given.field, value);
		const format_field *field = on_.field(given.field);
		if (!field) {
			// intel_uncore's PCU has no umask, and needs none.
			if (given.preset && !value)
				return {};
			return has;
		}
		if (value > field->max())
			return invalid(on_.name + ": " +
				       std::string(given.field) + '=' +
				       hex(value) + " does not fit, " +
				       hex(field->max()) + " is the most");
		// A field in the wrong place must not clear others.
		if (in_tree() && !value)
			return {};
		words_.word[field->word] &= ~field->place(field->max());
		words_.word[field->word] |= field->place(value);
		return {};
	}

	/// Bits of raw words that no field has: drivers drop or refuse them.
	result<void> check_stray_bits() const
	{
		uint64_t covered[3] = {0, 0, 0};

		for (const format_field &field : on_.formats) {
			const uint64_t bits = field.place(field.max());
			const field_info *right =
				in_tree()
					? catalogue_->field(on_.box, field.name)
					: nullptr;

			if (right) {
				const auto known =
					parse_format(right->name, right->bits);
				if (!known ||
				    bits & ~known->place(known->max()))
					continue;
			}
			covered[field.word] |= bits;
		}
		for (unsigned word = 0; word < 3; word++) {
			const uint64_t stray =
				words_.word[word] & ~covered[word];

			if (!words_.raw[word] || !stray)
				continue;
			return error{
				errc::unsupported,
				on_.name +
					": no field of the driver has "
					"the bits " +
					hex(stray) + " of config" +
					(word ? std::to_string(word) : "")};
		}
		return {};
	}

	result<void> check()
	{
		if (on_.driver == driver::other)
			return {};
		if (const auto clean = check_stray_bits(); !clean)
			return clean;
		if (in_tree())
			if (const auto right =
				    check_in_tree(on_, *tables_, words_);
			    !right)
				return right;
		const format_field *enable = on_.field("tid_en");
		const format_field *tid = on_.field("filter_tid");
		if (enable && tid &&
		    words_.word[tid->word] & tid->place(tid->max()) &&
		    !(words_.word[enable->word] & enable->place(1)))
			return invalid(on_.name +
				       ": filter_tid has no effect without "
				       "tid_en=1 in " +
				       where());
		return {};
	}

	/// The catalogue's event with these select bits, for raw ones.
	const event_info *find_info() const
	{
		uint64_t select = 0;
		const event_info *found = nullptr;

		for (const std::string_view name :
		     {"event", "umask", "occ_sel"})
			if (const field_info *info =
				    catalogue_->field(on_.box, name)) {
				const auto field =
					parse_format(name, info->bits);
				select |= field->place(field->max());
			}
		for (const event_info &info : catalogue_->events()) {
			if (info.box != on_.box ||
			    (info.config ^ words_.word[0]) & select)
				continue;
			if (info.config1 == words_.word[1] &&
			    info.config2 == words_.word[2])
				return &info;
			if (!found && !info.config1 && !info.config2)
				found = &info;
		}
		return found;
	}

	/// The driver refuses filters that the event does not look at, without
	/// a word about which.
	result<void> check_filters() const
	{
		if (!catalogue_ || on_.driver != driver::xeon_uncore ||
		    (event_.config & 0xff) == 0xff)
			return {};
		const demand looks =
			demand_of(event_, catalogue_->generation());

		for (const format_field &field : on_.formats) {
			if (!field.name.starts_with("filter_") &&
			    !field.name.starts_with("ma"))
				continue;
			const uint64_t all = field.place(field.max());
			const uint64_t obeyed = looks.filters[field.word];
			const uint64_t deaf =
				words_.word[field.word] & all & ~obeyed;

			if (deaf && !(all & obeyed))
				return invalid(
					on_.name + ": " + field.name +
					" has no effect on the event of " +
					where());
			if (deaf)
				return invalid(on_.name + ": the bits " +
					       hex(deaf) + " of config" +
					       std::to_string(field.word) +
					       ", in " + field.name +
					       ", mean nothing in " + where());
		}
		return {};
	}

	result<event> finish()
	{
		event_.text = written_.text;
		if (event_.name.empty())
			event_.name = event_.text;
		event_.type = on_.type;
		event_.config = words_.word[0];
		event_.config1 = words_.word[1];
		event_.config2 = words_.word[2];
		event_.pmu = on_.cpus.empty() ? nullptr : &on_;
		if (!event_.info && catalogue_)
			event_.info = find_info();
		if (const auto heard = check_filters(); !heard)
			return heard.error();
		const auto done = apply_modifiers(
			written_, on_.driver != driver::other, event_);
		if (!done)
			return done.error();
		return std::move(event_);
	}

	const written_event &written_;
	const pmu &on_;
	const catalogue *catalogue_ = nullptr;
	const catalogue_tables *tables_ = nullptr;
	std::string_view alias_; ///< the event's name
	std::string alias_text_; ///< the terms that it stands for
	std::vector<std::string_view> parameters_; ///< fields that it needs
	std::vector<assignment> assignments_;
	config_words words_;
	event event_;
};

} // namespace

result<event> resolve_on_pmu(const written_event &written, const pmu &on,
			     const topology &machine)
{
	return resolver(written, on, machine).resolve();
}

} // namespace uncore
