// SPDX-License-Identifier: LGPL-2.1-or-later
// Which filter fields an event shares with the other events of its box, and
// which counters may count it, both by the catalogue (events/hswep/boxes.json).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <uncore/event.hpp>

namespace uncore {

/// What an event asks of its box.
struct demand {
	/// Counters that can count it, bit n for counter n.  Those above bit 15
	/// are fixed and free-running ones.
	uint32_t counters = 0;
	/// Bits of config, config1 and config2 that are shared filters.
	std::array<uint64_t, 3> filters{};
};

/// @return what @p wanted asks; no counters when the generation or the box type
/// is unknown.
demand demand_of(const event &wanted, std::string_view generation);

/// The name of a shared field that has one of @p bits, or "filter".
std::string_view shared_name(const event &wanted, std::string_view generation,
			     unsigned word, uint64_t bits);

} // namespace uncore
