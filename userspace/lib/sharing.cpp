// SPDX-License-Identifier: LGPL-2.1-or-later
// Look up in the catalogue which filter fields an event shares with the other
// events of its box, and which of the box's counters can count the event.
#include "sharing.hpp"

#include <span>

#include "catalogue_tables.hpp"

namespace uncore {

namespace {

/// Bits of config: of the event code (bit 21 is part of it in QPI boxes only),
/// and of the event code without bit 21.
constexpr uint64_t code_bits = 0x2000ff, code_mask = 0xff;

std::span<const shared_field> fields_of(std::string_view generation)
{
	const catalogue_tables *tables = catalogue_tables::find(generation);

	return tables ? tables->shared_fields : std::span<const shared_field>();
}

/// Return the counter of an event with the code 0xff, as a bit of
/// demand::counters.  The unit mask selects the counter: 0 is the fixed
/// counter, another one is the counter of the box's free-running event with it.
uint64_t special_counter(const event &counted, const catalogue &names)
{
	constexpr uint64_t select_bits = 0xffff, umask_bits = 0xff00;
	unsigned bit = 16;

	if (!(counted.config & umask_bits))
		return uint64_t{1} << bit;
	for (const event_info &info : names.events()) {
		if (info.box != counted.pmu->box ||
		    (info.config & code_mask) != 0xff || !(info.config & umask_bits))
			continue;
		bit++;
		if (!((info.config ^ counted.config) & select_bits))
			return uint64_t{1} << bit;
	}
	return 0;
}

} // namespace

demand demand_of(const event &counted, std::string_view generation)
{
	const catalogue *names = catalogue::find(generation);
	const box_info *box = nullptr;
	demand event_demand;

	if (names && counted.pmu && counted.pmu->driver != pmu_driver::other)
		box = names->box(counted.pmu->box);
	if (!box)
		return event_demand;
	if ((counted.config & code_mask) == 0xff) {
		event_demand.counters = special_counter(counted, *names);
		return event_demand;
	}
	// All general counters, unless the catalogue restricts the event.
	event_demand.counters = (1u << box->counters) - 1;
	// Only the event code has to be equal: the counters that can count an
	// event do not depend on its unit mask.
	for (const event_info &info : names->events())
		if (info.box == box->name && info.counters &&
		    !((info.config ^ counted.config) & code_bits))
			event_demand.counters = info.counters;
	const std::array words{counted.config, counted.config1, counted.config2};
	for (const shared_field &field : fields_of(generation)) {
		if (field.box != box->name ||
		    (counted.config & field.mask) != field.select)
			continue;
		const bool given = (words[0] & field.rule[0]) |
				   (words[1] & field.rule[1]) |
				   (words[2] & field.rule[2]);
		for (unsigned word = 0; word < 3; word++) {
			event_demand.filters[word] |= field.bits[word];
			event_demand.values[word] |=
				given ? words[word] & field.bits[word]
				      : field.neutral[word];
		}
	}
	return event_demand;
}

std::string_view shared_name(const event &counted, std::string_view generation,
			     unsigned word, uint64_t bits)
{
	for (const shared_field &field : fields_of(generation))
		if (field.box == counted.pmu->box && field.bits[word] & bits &&
		    (counted.config & field.mask) == field.select)
			return field.name;
	return "filter";
}

} // namespace uncore
