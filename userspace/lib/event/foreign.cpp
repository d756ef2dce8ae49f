// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Uncore event names of other tools: names of perf are translated, and names
/// of libpfm4, LIKWID and ucevent are refused with the name to use.

#include "event/parts.hpp"

#include <algorithm>

#include <uncore/catalogue.hpp>

#include "catalogue_tables.hpp"
#include "format.hpp"
#include "text.hpp"

namespace uncore {

namespace {

/// Translate another tool's name of a box type; empty if unknown.
std::string_view box_of(const catalogue &names, foreign_box::tool used_by,
			std::string_view name)
{
	return catalogue_tables::find(names.generation())
		->box_of(used_by, name);
}

std::string lower(std::string_view text)
{
	std::string lowered(text);

	for (char &c : lowered)
		if (c >= 'A' && c <= 'Z')
			c = char(c - 'A' + 'a');
	return lowered;
}

/// Find the catalogue's event for a name such as "unc_m_cas_count.rd".
const event_info *manuals_name(const catalogue &names, std::string_view name)
{
	const std::string lowered = lower(name);
	std::string_view rest = lowered;

	if (!rest.starts_with("unc_"))
		return nullptr;
	rest.remove_prefix(4);

	const auto [letter, event] = cut(rest, '_');

	return names.event(box_of(names, foreign_box::perf, letter), event);
}

std::string written(const event_info &info, std::string_view instance = "")
{
	return uncore::format("{}{}{}/{}/", std::string(info.box),
			      instance.empty() ? "" : "_",
			      std::string(instance), std::string(info.name));
}

/// Split the trailing digits off a name.
std::pair<std::string_view, std::string_view>
split_number(std::string_view text)
{
	size_t end = text.size();

	while (end && is_digit(text[end - 1]))
		end--;
	return {text.substr(0, end), text.substr(end)};
}

/// Translate a name of libpfm4: hswep_unc_imc0::UNC_M_CAS_COUNT:RD.
std::string of_libpfm4(const catalogue &names, std::string_view text)
{
	const size_t colons = text.find("::");
	std::string name;

	if (colons == text.npos)
		return {};
	for (const std::string_view part : split(text.substr(colons + 2), ':'))
		if (part.find('=') == part.npos)
			name += (name.empty() ? "" : ".") + std::string(part);
	if (const event_info *info = manuals_name(names, name))
		return written(*info,
			       split_number(text.substr(0, colons)).second);
	return {};
}

/// Translate a name of LIKWID: CAS_COUNT_RD:MBOX0C1.
std::string of_likwid(const catalogue &names, std::string_view text)
{
	const auto [name, counter] = cut(text, ':');
	const auto digit =
		std::find_if(counter.begin(), counter.end(), is_digit);
	const auto end = std::find_if_not(digit, counter.end(), is_digit);
	const std::string_view box =
		box_of(names, foreign_box::likwid, {counter.begin(), digit});
	// A number at the end, as in WBOX2, is the counter's.
	const std::string_view number(digit,
				      end == counter.end() ? digit : end);

	if (box.empty() || digit == counter.end())
		return {};
	for (const event_info &info : names.events()) {
		std::string underscored(info.name);

		std::replace(underscored.begin(), underscored.end(), '.', '_');
		if (info.box == box && same_name(underscored, name))
			return written(info, number);
	}
	return {};
}

/// Translate a name of ucevent: iMC.MEM_BW_READS.
std::string of_ucevent(const catalogue &names, std::string_view text)
{
	const auto [their_box, name] = cut(text, '.');
	const std::string lowered = lower(name);
	const std::string_view known =
		box_of(names, foreign_box::other, their_box);
	const std::string_view box = known.empty() ? their_box : known;

	if (const event_info *info = names.event(box, lowered))
		return written(*info);
	if (names.box(box) && names.metric(lowered))
		return "-M " + lowered;
	return {};
}

} // namespace

std::string perf_spelling(std::string_view name, const topology &machine)
{
	const catalogue &catalogue_names = catalogue::of(machine);

	if (const event_info *info = manuals_name(catalogue_names, name))
		return written(*info);

	const auto perf_names =
		catalogue_tables::find(catalogue_names.generation())
			->perf_names;
	const std::string lowered = lower(name);
	const auto position = std::lower_bound(
		perf_names.begin(), perf_names.end(), lowered,
		[](const perf_name &entry, std::string_view key) {
			return entry.name < key;
		});

	return position != perf_names.end() && position->name == lowered
		       ? std::string(position->event)
		       : std::string();
}

std::string foreign_spelling(std::string_view text, const catalogue &names)
{
	constexpr struct {
		const char *tool;
		std::string (*translate)(const catalogue &, std::string_view);
	} tools[] = {{"libpfm4", of_libpfm4},
		     {"LIKWID", of_likwid},
		     {"ucevent", of_ucevent}};

	for (const auto &[tool, translate] : tools)
		if (const std::string spelling = translate(names, text);
		    !spelling.empty())
			return uncore::format("{} is {}'s name: write {}",
					      quote(text), tool, spelling);
	return {};
}

} // namespace uncore
