// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Consistency checks of an event's config words: bits outside all fields,
/// filters without effect.

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

/// Refuse bits of raw words outside all fields: drivers drop or refuse them.
static result<void> check_stray_bits(const known_pmu &p,
				     const config_words &words)
{
	uint64_t covered[3] = {0, 0, 0};

	for (const format_field &field : p.pmu.formats) {
		const uint64_t bits = field.place(field.max());
		const field_info *info =
			p.in_tree() ? p.names->field(p.pmu.box, field.name)
				    : nullptr;

		if (info) {
			const auto hardware =
				parse_format(info->name, info->bits);
			if (!hardware ||
			    bits & ~hardware->place(hardware->max()))
				continue;
		}
		covered[field.word] |= bits;
	}
	for (unsigned word = 0; word < 3; word++) {
		const uint64_t stray = words.word[word] & ~covered[word];

		if (!words.raw[word] || !stray)
			continue;
		return error{errc::unsupported,
			     p.pmu.name +
				     ": no field of the driver has the bits " +
				     hex(stray) + " of config" +
				     (word ? std::to_string(word) : "")};
	}
	return {};
}

/// Refuse edge and invert without a threshold: both act on the comparison of
/// the count with the threshold.  xeon_uncore refuses them as well, but its
/// message has other names of the fields; with the prefix uncore it accepts
/// them.
static result<void> check_threshold(const known_pmu &p,
				    const config_words &words,
				    std::string_view text)
{
	const format_field *thresh = p.pmu.field("thresh");

	if (p.pmu.driver != pmu_driver::xeon_uncore ||
	    p.pmu.prefix == "uncore" || !thresh ||
	    (words.word[0] & 0xff) == 0xff ||
	    words.word[thresh->word] & thresh->place(thresh->max()))
		return {};
	for (const std::string_view name :
	     {"edge", "inv", "occ_edge", "occ_invert"}) {
		const format_field *field = p.pmu.field(name);

		if (field && words.word[field->word] & field->place(1))
			return invalid(
				p.pmu.name + ": " + std::string(name) +
				" has no effect without thresh: add thresh=1 to " +
				quote(text));
	}
	return {};
}

result<void> check_words(const known_pmu &p, const config_words &words,
			 std::string_view text)
{
	if (p.pmu.driver == pmu_driver::other)
		return {};
	if (const auto checked = check_stray_bits(p, words); !checked)
		return checked;
	if (p.in_tree())
		if (const auto checked = check_in_tree(p.pmu, *p.tables, words);
		    !checked)
			return checked;
	if (const auto checked = check_threshold(p, words, text); !checked)
		return checked;
	const format_field *enable = p.pmu.field("tid_en");
	const format_field *tid = p.pmu.field("filter_tid");
	if (enable && tid && words.word[tid->word] & tid->place(tid->max()) &&
	    !(words.word[enable->word] & enable->place(1)))
		return invalid(
			p.pmu.name +
			": filter_tid has no effect without tid_en=1 in " +
			quote(text));
	return {};
}

const event_info *find_info(const known_pmu &p, const config_words &words)
{
	uint64_t select = 0;
	const event_info *best = nullptr;

	for (const std::string_view name : {"event", "umask", "occ_sel"})
		if (const field_info *info = p.names->field(p.pmu.box, name)) {
			const auto field = parse_format(name, info->bits);
			select |= field->place(field->max());
		}
	for (const event_info &info : p.names->events()) {
		if (info.box != p.pmu.box ||
		    (info.config ^ words.word[0]) & select)
			continue;
		if (info.config1 == words.word[1] &&
		    info.config2 == words.word[2])
			return &info;
		if (!best && !info.config1 && !info.config2)
			best = &info;
	}
	return best;
}

result<void> check_filters(const known_pmu &p, const config_words &words,
			   const event &counted)
{
	if (!p.names || p.pmu.driver != pmu_driver::xeon_uncore ||
	    (counted.config & 0xff) == 0xff)
		return {};
	const demand event_demand = demand_of(counted, p.names->generation());

	for (const format_field &field : p.pmu.formats) {
		if (!field.name.starts_with("filter_") &&
		    !field.name.starts_with("ma"))
			continue;
		const uint64_t field_bits = field.place(field.max());
		const uint64_t obeyed = event_demand.filters[field.word];
		const uint64_t ignored =
			words.word[field.word] & field_bits & ~obeyed;

		if (ignored && !(field_bits & obeyed))
			return invalid(p.pmu.name + ": " + field.name +
				       " has no effect on the event of " +
				       quote(counted.text));
		if (ignored)
			return invalid(p.pmu.name + ": the bits " +
				       hex(ignored) + " of config" +
				       std::to_string(field.word) + ", in " +
				       field.name + ", mean nothing in " +
				       quote(counted.text));
	}
	return {};
}

} // namespace uncore
