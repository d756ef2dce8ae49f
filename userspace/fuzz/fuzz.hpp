// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks that the fuzz targets share. A failed check ends the target.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <uncore/error.hpp>

/// Check a condition that must hold for any input.
inline void require(bool holds, const char *promise)
{
	if (holds)
		return;
	std::fprintf(stderr, "broken promise: %s\n", promise);
	std::abort();
}

/// Check that the message of an error is one short line for a terminal.
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
