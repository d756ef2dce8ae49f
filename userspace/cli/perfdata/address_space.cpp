// SPDX-License-Identifier: GPL-2.0-or-later
// What is mapped where in a process at one time.
#include "perfdata/address_space.hpp"

#include <algorithm>

namespace cli {

void address_space::map(uint64_t start, uint64_t length, size_t number)
{
	if (!length)
		return;

	uint64_t last = start + std::min(length - 1, UINT64_MAX - start);
	auto at = areas_.lower_bound(start);

	// The one before may reach into this, and beyond it.
	if (at != areas_.begin()) {
		auto before = std::prev(at);
		area &old = before->second;

		if (old.last >= start) {
			if (old.last > last)
				areas_.emplace(last + 1, old);
			old.last = start - 1;
		}
	}
	// Those that begin within; the last of them may reach beyond.
	at = areas_.lower_bound(start);
	while (at != areas_.end() && at->first <= last) {
		if (at->second.last > last)
			areas_.emplace(last + 1, at->second);
		at = areas_.erase(at);
	}
	areas_[start] = {last, number};
}

size_t address_space::find(uint64_t address) const
{
	auto next = areas_.upper_bound(address);

	if (next == areas_.begin())
		return none;

	const area &before = std::prev(next)->second;

	return address <= before.last ? before.number : none;
}

} // namespace cli
