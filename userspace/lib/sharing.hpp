// SPDX-License-Identifier: LGPL-2.1-or-later
// Filter fields that an event shares with the other events of its box, and the
// counters that can count the event, by the catalogue
// (events/hswep/boxes.json).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <uncore/event.hpp>

namespace uncore {

/// Demand of an event on its box.
struct demand {
	/// Counters that can count the event, bit n for counter n.  Bits above
	/// 15 are fixed and free-running counters.
	uint32_t counters = 0;
	/// Bits of config, config1 and config2 that are shared filters.
	std::array<uint64_t, 3> filters{};
};

/// Look up an event's demand: no counters if the generation or the box type is
/// unknown.
demand demand_of(const event &counted, std::string_view generation);

/// Return the name of a shared field with one of @p bits, or "filter".
std::string_view shared_name(const event &counted, std::string_view generation,
			     unsigned word, uint64_t bits);

} // namespace uncore
