// SPDX-License-Identifier: GPL-2.0-or-later
// Records that perf record -z has compressed.
#include "perfdata/decompressor.hpp"

#include <cstdint>

#include <zstd.h>

namespace cli {

void decompressor::closer::operator()(ZSTD_DCtx_s *stream) const
{
	ZSTD_freeDStream(stream);
}

decompressor::decompressor() : stream_(ZSTD_createDStream()) {}

bool decompressor::feed(std::span<const char> part,
			const std::function<size_t(std::span<const char>)> &use)
{
	// However much a small part becomes, no more than this is held.
	static constexpr size_t step = 1 << 18;
	ZSTD_inBuffer in{part.data(), part.size(), 0};
	bool full = true;

	while (stream_ && (in.pos < in.size || full)) {
		size_t held = left_.size();

		left_.resize(held + step);

		ZSTD_outBuffer out{left_.data() + held, step, 0};
		size_t status = ZSTD_decompressStream(stream_.get(), &out, &in);

		left_.resize(held + out.pos);
		full = out.pos == out.size;
		if (ZSTD_isError(status))
			return false;

		size_t taken = use(left_);

		if (taken == SIZE_MAX)
			return false;
		left_.erase(left_.begin(), left_.begin() + ptrdiff_t(taken));
	}
	return bool(stream_);
}

} // namespace cli
