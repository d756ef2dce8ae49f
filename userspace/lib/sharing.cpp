// SPDX-License-Identifier: LGPL-2.1-or-later
// Which filter fields an event shares with the other events of its box, and
// which counters may count it: look-ups in the catalogue.
#include "sharing.hpp"

#include <span>

#include "catalogue_tables.hpp"

namespace uncore {

namespace {

constexpr uint64_t code_bits = 0x2000ff, code_mask = 0xff;

std::span<const shared_field> fields_of(std::string_view generation)
{
	const catalogue_tables *tables = catalogue_tables::find(generation);

	return tables ? tables->shared_fields : std::span<const shared_field>();
}

/// Fixed and free-running counters: one for each unit mask.
uint32_t special_counter(const event &wanted)
{
	uint64_t umask = wanted.config >> 8 & 0xff;

	return 1u << (16 + (umask ? 1 + (umask & 7) : 0));
}

} // namespace

demand demand_of(const event &wanted, std::string_view generation)
{
	const catalogue *known = catalogue::find(generation);
	const box_info *box = nullptr;
	demand asked;

	if (known && wanted.pmu && wanted.pmu->driver != pmu_driver::other)
		box = known->box(wanted.pmu->box);
	if (!box)
		return asked;
	if ((wanted.config & code_mask) == 0xff) {
		asked.counters = special_counter(wanted);
		return asked;
	}
	asked.counters = (1u << box->counters) - 1;
	// Which counters can count an event does not depend on its unit mask.
	for (const event_info &info : known->events())
		if (info.box == box->name && info.counters &&
		    !((info.config ^ wanted.config) & code_bits))
			asked.counters = info.counters;
	for (const shared_field &field : fields_of(generation))
		if (field.box == box->name &&
		    (wanted.config & field.mask) == field.select)
			for (unsigned word = 0; word < 3; word++)
				asked.filters[word] |= field.bits[word];
	return asked;
}

std::string_view shared_name(const event &wanted, std::string_view generation,
			     unsigned word, uint64_t bits)
{
	for (const shared_field &field : fields_of(generation))
		if (field.box == wanted.pmu->box && field.bits[word] & bits &&
		    (wanted.config & field.mask) == field.select)
			return field.name;
	return "filter";
}

} // namespace uncore
