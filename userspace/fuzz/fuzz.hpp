// SPDX-License-Identifier: LGPL-2.1-or-later
// What the fuzz targets share: a broken promise of the library ends them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <uncore/error.hpp>

/// What must hold whatever was read.
inline void require(bool holds, const char *what)
{
	if (holds)
		return;
	std::fprintf(stderr, "broken promise: %s\n", what);
	std::abort();
}

/// Messages are one line, for a terminal.
inline void require_clean(const uncore::error &failure)
{
	require(!failure.message.empty(), "an error has a message");
	require(failure.message.size() < 4096, "a message is short");
	for (const char c : failure.message)
		require(static_cast<unsigned char>(c) >= ' ' && c != 0x7f,
			"a message is one line without control characters");
}

inline std::string_view as_text(const uint8_t *data, size_t size)
{
	return {reinterpret_cast<const char *>(data), size};
}
