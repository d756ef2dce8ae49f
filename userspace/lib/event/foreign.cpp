// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Names that other tools have for uncore events: perf's are understood, and
/// those of libpfm4, LIKWID and ucevent are answered with the name to use.

#include "event/parts.hpp"

#include <algorithm>

#include <uncore/catalogue.hpp>

#include "catalogue_tables.hpp"
#include "format.hpp"
#include "text.hpp"

namespace uncore {

namespace {

struct alias {
	std::string_view theirs, ours;
};

/// UNC_M_CAS_COUNT: the letter, and the box.
constexpr alias letters[] = {
	{"m", "imc"},	  {"c", "cbox"},   {"h", "ha"},	 {"p", "pcu"},
	{"q", "qpi"},	  {"u", "ubox"},   {"i", "irp"}, {"s", "sbox"},
	{"r2", "r2pcie"}, {"r3", "r3qpi"},
};

/// libpfm4's and ucevent's boxes.
constexpr alias boxes[] = {
	{"cbo", "cbox"},
	{"sbo", "sbox"},
	{"ubo", "ubox"},
	{"qpi_ll", "qpi"},
};

/// LIKWID's.
constexpr alias counters[] = {
	{"mbox", "imc"},    {"cbox", "cbox"},  {"bbox", "ha"},
	{"wbox", "pcu"},    {"sbox", "qpi"},   {"qbox", "qpi"},
	{"pbox", "r2pcie"}, {"rbox", "r3qpi"}, {"ubox", "ubox"},
	{"ibox", "irp"},
};

template <size_t N>
std::string_view find(const alias (&all)[N], std::string_view name,
		      std::string_view otherwise)
{
	for (const alias &one : all)
		if (same_name(one.theirs, name))
			return one.ours;
	return otherwise;
}

std::string lower(std::string_view text)
{
	std::string small(text);

	for (char &c : small)
		if (c >= 'A' && c <= 'Z')
			c = char(c - 'A' + 'a');
	return small;
}

/// "unc_m_cas_count.rd" as box and event, if the catalogue has it.
const event_info *manuals_name(const catalogue &all, std::string_view name)
{
	const std::string small = lower(name);
	std::string_view rest = small;

	if (!rest.starts_with("unc_"))
		return nullptr;
	rest.remove_prefix(4);

	const auto [letter, event] = cut(rest, '_');

	return all.event(find(letters, letter, ""), event);
}

std::string written(const event_info &info, std::string_view instance = "")
{
	return uncore::format("{}{}{}/{}/", std::string(info.box),
			      instance.empty() ? "" : "_", std::string(instance),
			      std::string(info.name));
}

/// Splits the digits off that a name ends with.
std::pair<std::string_view, std::string_view>
split_number(std::string_view text)
{
	size_t end = text.size();

	while (end && is_digit(text[end - 1]))
		end--;
	return {text.substr(0, end), text.substr(end)};
}

/// hswep_unc_imc0::UNC_M_CAS_COUNT:RD
std::string of_libpfm4(const catalogue &all, std::string_view text)
{
	const size_t colons = text.find("::");
	std::string name;

	if (colons == text.npos)
		return {};
	for (const std::string_view part : split(text.substr(colons + 2), ':'))
		if (part.find('=') == part.npos)
			name += (name.empty() ? "" : ".") + std::string(part);
	if (const event_info *info = manuals_name(all, name))
		return written(*info,
			       split_number(text.substr(0, colons)).second);
	return {};
}

/// CAS_COUNT_RD:MBOX0C1
std::string of_likwid(const catalogue &all, std::string_view text)
{
	const auto [name, counter] = cut(text, ':');
	const std::string place = lower(counter.substr(0, 4));
	const std::string_view box = find(counters, place, "");

	if (box.empty() || counter.size() < 5)
		return {};
	for (const event_info &info : all.events()) {
		std::string flat(info.name);

		std::replace(flat.begin(), flat.end(), '.', '_');
		if (info.box == box && same_name(flat, name))
			return written(
				info,
				split_number(counter.substr(
						     4, counter.find('C') - 4))
					.second);
	}
	return {};
}

/// iMC.MEM_BW_READS
std::string of_ucevent(const catalogue &all, std::string_view text)
{
	const auto [box, name] = cut(text, '.');
	const std::string small = lower(name);

	if (const event_info *info = all.event(find(boxes, box, box), small))
		return written(*info);
	if (all.box(find(boxes, box, box)) && all.metric(small))
		return "-M " + small;
	return {};
}

} // namespace

std::string perf_spelling(std::string_view name, const topology &machine)
{
	const catalogue &all = catalogue::of(machine);

	if (const event_info *info = manuals_name(all, name))
		return written(*info);

	const auto names = catalogue_tables::find(all.generation())->perf_names;
	const std::string small = lower(name);
	const auto at = std::lower_bound(
		names.begin(), names.end(), small,
		[](const perf_name &one, std::string_view wanted) {
			return one.name < wanted;
		});

	return at != names.end() && at->name == small ? std::string(at->event)
						      : std::string();
}

std::string foreign_spelling(std::string_view text, const catalogue &all)
{
	constexpr struct {
		const char *tool;
		std::string (*translate)(const catalogue &, std::string_view);
	} tools[] = {{"libpfm4", of_libpfm4},
		     {"LIKWID", of_likwid},
		     {"ucevent", of_ucevent}};

	for (const auto &[tool, translate] : tools)
		if (const std::string ours = translate(all, text);
		    !ours.empty())
			return uncore::format("{} is {}'s name: write {}", quote(text),
					      tool, ours);
	return {};
}

} // namespace uncore
