// SPDX-License-Identifier: LGPL-2.1-or-later
// Demand of an event on its box, by the catalogue (events/*/boxes.json): the
// counters that can count the event, and the filter fields that it obeys.  A
// box has one filter register for all of its counters.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <uncore/event.hpp>

namespace uncore {

struct demand {
	/// Counters that can count the event, bit n for counter n.  Bit 16 is
	/// the fixed counter, bits above 16 are free-running counters.
	uint64_t counters = 0;
	/// Bits of config, config1 and config2 that are filters of the whole
	/// box and that the event obeys.  Events that count at the same time
	/// must agree on the bits that they both obey.
	std::array<uint64_t, 3> filters{};
	/// Values of these bits: the event's, or the neutral ones that the
	/// driver takes for an event without them.
	std::array<uint64_t, 3> values{};
};

/// Look up an event's demand.  Without a catalogue entry for the generation or
/// the box type, nothing is known: counters and filters are 0.
demand demand_of(const event &counted, std::string_view generation);

/// Return the name of a filter field that the event obeys, for error messages.
/// @param word 0, 1 or 2: config, config1 or config2.
/// @param bits of this word; the field has at least one of the bits.
/// @return "filter" if the catalogue has no such field.
std::string_view shared_name(const event &counted, std::string_view generation,
			     unsigned word, uint64_t bits);

} // namespace uncore
