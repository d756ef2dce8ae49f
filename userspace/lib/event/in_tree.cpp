// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Known faults of intel_uncore, the kernel's own (in-tree) driver.  It counts
/// some events wrongly, ignores some filters, and publishes some fields at
/// positions that differ from the hardware's.  Events with such a fault are
/// refused with the reason: the driver would count something else without an
/// error.

#include "event/parts.hpp"

#include <uncore/catalogue.hpp>

#include "catalogue_tables.hpp"
#include "sysfs.hpp"

namespace uncore {

namespace {

/// Return the name of the first hardware field of @p box with one of these bits
/// of a word.
std::string_view field_with(const catalogue_tables &tables,
			    std::string_view box, unsigned word, uint64_t bits)
{
	for (const field_info &info : tables.fields) {
		if (info.box != box)
			continue;
		const auto field = parse_format(info.name, info.bits);

		if (field && field->word == word &&
		    field->place(field->max()) & bits)
			return info.name;
	}
	return {};
}

/// Check whether the filter holds for a box.
bool is_of(const in_tree_filter &filter, unsigned instance)
{
	return !filter.instances ||
	       (instance < 64 && filter.instances >> instance & 1);
}

/// Make the error for an event that intel_uncore would count wrongly.
error lacking(std::string message)
{
	return {errc::unsupported, std::move(message)};
}

} // namespace

std::string use_our_driver(std::string_view advantage)
{
	return "; load xeon_uncore instead, which " + std::string(advantage);
}

result<void> check_in_tree_field(const pmu_info &pmu,
				 const catalogue_tables &tables,
				 std::string_view name, uint64_t value)
{
	const format_field *published = pmu.field(name);

	for (const field_info &info : tables.fields) {
		if (info.box != pmu.box || info.name != name)
			continue;
		const auto hardware = parse_format(info.name, info.bits);
		if (!hardware || value > hardware->max())
			continue;
		if (!published)
			return lacking(
				pmu.name + ": intel_uncore has no field " +
				std::string(name) + use_our_driver("has it"));
		if (published->word == hardware->word &&
		    value <= published->max() &&
		    published->place(value) == hardware->place(value))
			continue;
		return lacking(pmu.name + ": intel_uncore puts " +
			       std::string(name) + '=' + hex(value) +
			       " in other bits than the hardware's " +
			       std::string(info.bits) +
			       use_our_driver("has them right"));
	}
	return {};
}

result<void> check_in_tree(const pmu_info &pmu, const catalogue_tables &tables,
			   const config_words &words)
{
	const unsigned instance = pmu.instance.value_or(0);
	uint64_t obeyed[3] = {~uint64_t{0}, 0, 0};

	for (const in_tree_fault &fault : tables.in_tree_faults)
		if (fault.box == pmu.box &&
		    (words.word[0] & fault.mask) == fault.select)
			return lacking(pmu.name + ": intel_uncore " +
				       std::string(fault.reason) + " (" +
				       std::string(fault.section) + ')' +
				       use_our_driver("counts it"));

	for (const in_tree_filter &filter : tables.in_tree_filters) {
		if (filter.box != pmu.box || !is_of(filter, instance) ||
		    (words.word[0] & filter.mask) != filter.select)
			continue;
		obeyed[1] |= filter.config1;
		obeyed[2] |= filter.config2;
	}
	for (unsigned word = 1; word < 3; word++) {
		const uint64_t ignored = words.word[word] & ~obeyed[word];

		if (!ignored)
			continue;
		const std::string_view field =
			field_with(tables, pmu.box, word, ignored);
		return lacking(pmu.name + ": intel_uncore ignores " +
			       (field.empty() ? "config" + std::to_string(word)
					      : std::string(field)) +
			       " for this event" +
			       use_our_driver("obeys all filters"));
	}
	return {};
}

} // namespace uncore
