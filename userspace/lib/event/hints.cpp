// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What to say of names that are not there: the nearest ones, and what a field
/// may be.

#include "event/parts.hpp"

#include <algorithm>

#include <uncore/catalogue.hpp>

#include "catalogue_tables.hpp"
#include "sysfs.hpp"
#include "text.hpp"

namespace uncore {

std::string hex(uint64_t value)
{
	char text[2 + 16 + 1];

	snprintf(text, sizeof(text), "0x%llx",
		 static_cast<unsigned long long>(value));
	return text;
}

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

/// perf's terms that are not fields of a PMU and that mean nothing here.
static bool is_perf_word(std::string_view name)
{
	static constexpr std::string_view words[] = {
		"freq",	   "time",	 "call-graph", "stack-size",
		"inherit", "no-inherit", "max-stack",  "overwrite",
		"percore", "aux-output", "branch_type"};

	return std::find(std::begin(words), std::end(words), name) !=
	       std::end(words);
}

/// "only Haswell-EP/EX and Broadwell-EP/EX have": those for which @p has is
/// true; "" for none.
template <typename predicate> static std::string only_others(predicate has)
{
	std::vector<std::string_view> titles;

	for (const std::string_view generation : catalogue::generations())
		if (const catalogue &one = *catalogue::find(generation);
		    has(one))
			titles.push_back(one.title());
	if (titles.empty())
		return "";
	return "only " + join(titles) + (titles.size() > 1 ? " have" : " has");
}

/// Is @p name "cbox" or "cbox_3", for a box of that name?
static bool is_of_box(std::string_view name, std::string_view box)
{
	const auto [first, number] = cut(name, '_');

	return same_name(first, box) &&
	       std::all_of(number.begin(), number.end(), is_digit);
}

std::string box_elsewhere(const catalogue &here, std::string_view name)
{
	const auto has = [name](const catalogue &one) {
		const auto bare = cut(name, '_').second;

		for (const box_info &box : one.boxes())
			if (is_of_box(name, box.name) ||
			    is_of_box(bare, box.name))
				return true;
		return false;
	};

	if (has(here))
		return std::string(here.title()) +
		       " may have it, but here there is none; 'uncore topology' lists what there is";
	const std::string others = only_others(has);
	if (others.empty())
		return "";
	return std::string(here.title()) + " has no such box, " + others;
}

error unknown_event(const known_pmu &p, std::string_view alias)
{
	const std::string intro = p.on.name + " has no event " + quote(alias);
	const auto has = [&p, alias](const catalogue &one) {
		return one.event(p.on.box, alias) != nullptr;
	};
	std::vector<std::string_view> names;

	// Not a slip, but the name that it has on another machine.
	if (p.known && !has(*p.known))
		if (const std::string others = only_others(has);
		    !others.empty())
			return {errc::not_found, intro + ", " + others + " it"};
	std::vector<std::string> files;

	if (p.known)
		for (const event_info &info : p.known->events())
			if (info.box == p.on.box)
				names.push_back(info.name);
	files = list_folder(p.on.folder / "events");
	for (const std::string &file : files)
		if (is_event_file(file))
			names.push_back(file);
	for (const format_field &field : p.on.formats)
		names.push_back(field.name);
	const auto near = nearest_names(alias, names, 3);
	if (!near.empty())
		return {errc::not_found,
			intro + ": did you mean " + join(near, ", ") + '?'};
	if (!p.known && names.size() == p.on.formats.size())
		return {errc::not_found,
			intro + ": libuncore knows no names for this processor, and the driver has none"};
	return {errc::not_found, intro + "; 'uncore list " +
					 (p.known ? p.on.box : p.on.name) +
					 "' shows what it has"};
}

error missing_field(const known_pmu &p, std::string_view alias,
		    std::string_view name)
{
	const format_field *field = p.on.field(name);
	std::vector<std::string> shown;

	if (p.in_tree()) {
		const auto has = check_in_tree_field(p.on, *p.tables, name, 1);

		if (!has && !field)
			return has.error();
	}
	if (p.known)
		for (const value_info &value : p.known->values())
			if (value.box == p.on.box && value.field == name &&
			    shown.size() < 4)
				shown.push_back(std::string(value.name) + " (" +
						hex(value.value) + ')');
	std::string message = p.on.name + '/' + std::string(alias) +
			      "/ needs " + std::string(name) + "=";
	for (size_t i = 0; i < shown.size(); i++)
		message += (i ? ", " : ", such as ") + shown[i];
	if (!shown.empty())
		message +=
			"; 'uncore list -v " + std::string(name) + "' has all";
	else if (field)
		message += ", a number up to " + hex(field->max());
	return {errc::not_found, message};
}

result<void> check_field(const known_pmu &p, std::string_view name,
			 uint64_t value)
{
	if (p.on.field(name))
		return {};
	if (is_perf_word(name))
		return error{errc::unsupported, "perf's term " + quote(name) +
							" has no meaning here"};
	if (p.in_tree())
		if (const auto has =
			    check_in_tree_field(p.on, *p.tables, name, value);
		    !has)
			return has;
	if (p.known && p.known->field(p.on.box, name))
		return error{errc::unsupported,
			     p.on.name + ": the driver has no field " +
				     std::string(name)};
	std::vector<std::string_view> names;
	for (const format_field &field : p.on.formats)
		names.push_back(field.name);
	const auto near = nearest_names(name, names, 3);
	return error{errc::not_found,
		     p.on.name + " has no field " + quote(name) +
			     (near.empty() ? "; it has " + join(names)
					   : ": did you mean " +
						     join(near, ", ") + '?')};
}

error unknown_value(const known_pmu &p, std::string_view field,
		    std::string_view part)
{
	std::vector<std::string_view> names;

	if (!p.on.field(field)) {
		// the field is what is wrong
		if (const auto known = check_field(p, field, 0); !known)
			return known.error();
	}
	if (p.known)
		for (const value_info &value : p.known->values())
			if (value.box == p.on.box &&
			    same_name(value.field, field))
				names.push_back(value.name);
	std::string message =
		std::string(field) + '=' + quote(part) + " is not a number";
	if (const format_field *known = p.on.field(field))
		message += " from 0 to " + hex(known->max());
	if (names.empty())
		return {errc::invalid, message};
	const auto near = nearest_names(part, names, 3);
	if (!near.empty())
		return {errc::not_found, message + " or a name: did you mean " +
						 join(near, ", ") + '?'};
	const bool more = names.size() > 4;
	names.resize(more ? 4 : names.size());
	return {errc::not_found, message + " or a name; there are " +
					 join(names, ", ") +
					 (more ? " and others" : "")};
}

} // namespace uncore
