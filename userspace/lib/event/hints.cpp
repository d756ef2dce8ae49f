// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Hints for unknown names: the nearest names, and the values of a field.

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

/// Check for a term of perf that is not a PMU's field and that libuncore
/// ignores.
static bool is_perf_word(std::string_view name)
{
	static constexpr std::string_view words[] = {
		"freq",	   "time",	 "call-graph", "stack-size",
		"inherit", "no-inherit", "max-stack",  "overwrite",
		"percore", "aux-output", "branch_type"};

	return std::find(std::begin(words), std::end(words), name) !=
	       std::end(words);
}

/// List the generations for which @p has is true, as in "only Haswell-EP/EX and
/// Broadwell-EP/EX have"; "" for no generation.
template <typename predicate> static std::string only_others(predicate has)
{
	std::vector<std::string_view> titles;

	for (const std::string_view generation : catalogue::generations())
		if (const catalogue &candidate = *catalogue::find(generation);
		    has(candidate))
			titles.push_back(candidate.title());
	if (titles.empty())
		return "";
	return "only " + join(titles) + (titles.size() > 1 ? " have" : " has");
}

/// Check whether @p name names a @p box: "cbox" or "cbox_3".
static bool is_of_box(std::string_view name, std::string_view box)
{
	if (!same_name(name.substr(0, box.size()), box))
		return false;
	name.remove_prefix(box.size());
	if (name.starts_with('_'))
		name.remove_prefix(1);
	else if (!name.empty())
		return false;
	return std::all_of(name.begin(), name.end(), is_digit);
}

std::string box_elsewhere(const catalogue &names, std::string_view name)
{
	const auto has = [name](const catalogue &candidate) {
		const auto bare = cut(name, '_').second;

		for (const box_info &box : candidate.boxes())
			if (is_of_box(name, box.name) ||
			    is_of_box(bare, box.name))
				return true;
		return false;
	};

	if (has(names))
		return std::string(names.title()) +
		       " may have it, but here there is none; 'uncore topology' lists what there is";
	const std::string others = only_others(has);
	if (others.empty())
		return "";
	return std::string(names.title()) + " has no such box, " + others;
}

error unknown_event(const known_pmu &p, std::string_view alias)
{
	const std::string intro = p.pmu.name + " has no event " + quote(alias);
	const auto has = [&p, alias](const catalogue &candidate) {
		return candidate.event(p.pmu.box, alias) != nullptr;
	};
	std::vector<std::string_view> names;

	// The name is not misspelled, but is of another generation.
	if (p.names && !has(*p.names))
		if (const std::string others = only_others(has);
		    !others.empty())
			return {errc::not_found, intro + ", " + others + " it"};
	std::vector<std::string> files;

	if (p.names)
		for (const event_info &info : p.names->events())
			if (info.box == p.pmu.box)
				names.push_back(info.name);
	files = list_folder(p.pmu.folder / "events");
	for (const std::string &file : files)
		if (is_event_file(file))
			names.push_back(file);
	for (const format_field &field : p.pmu.formats)
		names.push_back(field.name);
	const auto near = nearest_names(alias, names, 3);
	if (!near.empty())
		return {errc::not_found,
			intro + ": did you mean " + join(near, ", ") + '?'};
	if (!p.names && names.size() == p.pmu.formats.size())
		return {errc::not_found,
			intro + ": libuncore knows no names for this processor, and the driver has none"};
	return {errc::not_found, intro + "; 'uncore list " +
					 (p.names ? p.pmu.box : p.pmu.name) +
					 "' shows what it has"};
}

error missing_field(const known_pmu &p, std::string_view alias,
		    std::string_view name)
{
	const format_field *field = p.pmu.field(name);
	std::vector<std::string> examples;

	if (p.in_tree()) {
		const auto checked =
			check_in_tree_field(p.pmu, *p.tables, name, 1);

		if (!checked && !field)
			return checked.error();
	}
	if (p.names)
		for (const value_info &value : p.names->values())
			if (value.box == p.pmu.box && value.field == name &&
			    examples.size() < 4)
				examples.push_back(std::string(value.name) +
						   " (" + hex(value.value) +
						   ')');
	std::string message = p.pmu.name + '/' + std::string(alias) +
			      "/ needs " + std::string(name) + "=";
	for (size_t i = 0; i < examples.size(); i++)
		message += (i ? ", " : ", such as ") + examples[i];
	if (!examples.empty())
		message +=
			"; 'uncore list -v " + std::string(name) + "' has all";
	else if (field)
		message += ", a number up to " + hex(field->max());
	return {errc::not_found, message};
}

result<void> check_field(const known_pmu &p, std::string_view name,
			 uint64_t value)
{
	if (p.pmu.field(name))
		return {};
	if (is_perf_word(name))
		return error{errc::unsupported, "perf's term " + quote(name) +
							" has no meaning here"};
	if (p.in_tree())
		if (const auto checked =
			    check_in_tree_field(p.pmu, *p.tables, name, value);
		    !checked)
			return checked;
	if (p.names && p.names->field(p.pmu.box, name))
		return error{errc::unsupported,
			     p.pmu.name + ": the driver has no field " +
				     std::string(name)};
	std::vector<std::string_view> names;
	for (const format_field &field : p.pmu.formats)
		names.push_back(field.name);
	const auto near = nearest_names(name, names, 3);
	return error{errc::not_found,
		     p.pmu.name + " has no field " + quote(name) +
			     (near.empty() ? "; it has " + join(names)
					   : ": did you mean " +
						     join(near, ", ") + '?')};
}

error unknown_value(const known_pmu &p, std::string_view field,
		    std::string_view part)
{
	std::vector<std::string_view> names;

	if (!p.pmu.field(field)) {
		// the field itself is unknown
		if (const auto checked = check_field(p, field, 0); !checked)
			return checked.error();
	}
	if (p.names)
		for (const value_info &value : p.names->values())
			if (value.box == p.pmu.box &&
			    same_name(value.field, field))
				names.push_back(value.name);
	std::string message =
		std::string(field) + '=' + quote(part) + " is not a number";
	if (const format_field *format = p.pmu.field(field))
		message += " from 0 to " + hex(format->max());
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
