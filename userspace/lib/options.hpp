// SPDX-License-Identifier: LGPL-2.1-or-later
// Options of programs that were built with another header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace uncore {

/// Options that begin with their size: members beyond it, which the program's
/// header does not have, get their defaults.
template <class T> T complete_options(const T &given)
{
	static_assert(std::is_trivially_copyable_v<T>);
	static_assert(offsetof(T, size) == 0);

	T complete;

	std::memcpy(static_cast<void *>(&complete), &given,
		    std::min(given.size, sizeof(T)));
	complete.size = sizeof(T);
	return complete;
}

} // namespace uncore
