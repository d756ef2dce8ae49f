// SPDX-License-Identifier: LGPL-2.1-or-later
// Options of programs that were built with another version of the header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace uncore {

/// Complete options that begin with their size: members beyond the size, which
/// the program's header lacks, get their defaults.
template <class T> T complete_options(const T &options)
{
	static_assert(std::is_trivially_copyable_v<T>);
	static_assert(offsetof(T, size) == 0);

	T complete;

	std::memcpy(static_cast<void *>(&complete), &options,
		    std::min(options.size, sizeof(T)));
	complete.size = sizeof(T);
	return complete;
}

} // namespace uncore
