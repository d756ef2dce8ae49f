// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Whether the words that an event's terms have become make sense together:
/// bits that no field has, filters without effect.

#include "event/parts.hpp"

#include <uncore/catalogue.hpp>

#include "catalogue_tables.hpp"
#include "sharing.hpp"
#include "sysfs.hpp"
#include "text.hpp"

namespace uncore {

static error invalid(std::string message)
{
	return {errc::invalid, std::move(message)};
}

/// Bits of raw words that no field has: drivers drop or refuse them.
static result<void> check_stray_bits(const known_pmu &p,
				     const config_words &words)
{
	uint64_t covered[3] = {0, 0, 0};

	for (const format_field &field : p.on.formats) {
		const uint64_t bits = field.place(field.max());
		const field_info *right =
			p.in_tree() ? p.known->field(p.on.box, field.name)
				    : nullptr;

		if (right) {
			const auto known =
				parse_format(right->name, right->bits);
			if (!known || bits & ~known->place(known->max()))
				continue;
		}
		covered[field.word] |= bits;
	}
	for (unsigned word = 0; word < 3; word++) {
		const uint64_t stray = words.word[word] & ~covered[word];

		if (!words.raw[word] || !stray)
			continue;
		return error{errc::unsupported,
			     p.on.name +
				     ": no field of the driver has the bits " +
				     hex(stray) + " of config" +
				     (word ? std::to_string(word) : "")};
	}
	return {};
}

/// Edge and invert act on the comparison with the threshold: without one the
/// driver refuses them under its own names.
static result<void> check_threshold(const known_pmu &p,
				    const config_words &words,
				    std::string_view text)
{
	const format_field *thresh = p.on.field("thresh");

	if (p.on.driver != pmu_driver::xeon_uncore || p.on.prefix == "uncore" ||
	    !thresh || (words.word[0] & 0xff) == 0xff ||
	    words.word[thresh->word] & thresh->place(thresh->max()))
		return {};
	for (const std::string_view name :
	     {"edge", "inv", "occ_edge", "occ_invert"}) {
		const format_field *field = p.on.field(name);

		if (field && words.word[field->word] & field->place(1))
			return invalid(
				p.on.name + ": " + std::string(name) +
				" has no effect without thresh: add thresh=1 to " +
				quote(text));
	}
	return {};
}

result<void> check_words(const known_pmu &p, const config_words &words,
			 std::string_view text)
{
	if (p.on.driver == pmu_driver::other)
		return {};
	if (const auto clean = check_stray_bits(p, words); !clean)
		return clean;
	if (p.in_tree())
		if (const auto right = check_in_tree(p.on, *p.tables, words);
		    !right)
			return right;
	if (const auto compared = check_threshold(p, words, text); !compared)
		return compared;
	const format_field *enable = p.on.field("tid_en");
	const format_field *tid = p.on.field("filter_tid");
	if (enable && tid && words.word[tid->word] & tid->place(tid->max()) &&
	    !(words.word[enable->word] & enable->place(1)))
		return invalid(
			p.on.name +
			": filter_tid has no effect without tid_en=1 in " +
			quote(text));
	return {};
}

const event_info *find_info(const known_pmu &p, const config_words &words)
{
	uint64_t select = 0;
	const event_info *found = nullptr;

	for (const std::string_view name : {"event", "umask", "occ_sel"})
		if (const field_info *info = p.known->field(p.on.box, name)) {
			const auto field = parse_format(name, info->bits);
			select |= field->place(field->max());
		}
	for (const event_info &info : p.known->events()) {
		if (info.box != p.on.box ||
		    (info.config ^ words.word[0]) & select)
			continue;
		if (info.config1 == words.word[1] &&
		    info.config2 == words.word[2])
			return &info;
		if (!found && !info.config1 && !info.config2)
			found = &info;
	}
	return found;
}

result<void> check_filters(const known_pmu &p, const config_words &words,
			   const event &wanted)
{
	if (!p.known || p.on.driver != pmu_driver::xeon_uncore ||
	    (wanted.config & 0xff) == 0xff)
		return {};
	const demand looks = demand_of(wanted, p.known->generation());

	for (const format_field &field : p.on.formats) {
		if (!field.name.starts_with("filter_") &&
		    !field.name.starts_with("ma"))
			continue;
		const uint64_t all = field.place(field.max());
		const uint64_t obeyed = looks.filters[field.word];
		const uint64_t deaf = words.word[field.word] & all & ~obeyed;

		if (deaf && !(all & obeyed))
			return invalid(p.on.name + ": " + field.name +
				       " has no effect on the event of " +
				       quote(wanted.text));
		if (deaf)
			return invalid(p.on.name + ": the bits " + hex(deaf) +
				       " of config" +
				       std::to_string(field.word) + ", in " +
				       field.name + ", mean nothing in " +
				       quote(wanted.text));
	}
	return {};
}

} // namespace uncore
