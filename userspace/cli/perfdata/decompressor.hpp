// SPDX-License-Identifier: GPL-2.0-or-later
// Records that perf record -z has compressed: one stream of Zstandard through
// the whole file, cut wherever a buffer was full.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_DCtx_s;

namespace cli {

class decompressor {
public:
	decompressor();

	/// Gives @p use what comes out, as often as there is something; it
	/// returns how much it has taken, SIZE_MAX to stop.  What it leaves
	/// comes again before what comes next.
	/// @return false when @p part is not compressed data, or @p use has stopped
	bool feed(std::span<const char> part,
		  const std::function<size_t(std::span<const char>)> &use);
	/// Bytes that @p use has not taken.
	size_t left() const { return left_.size(); }

private:
	struct closer {
		void operator()(ZSTD_DCtx_s *stream) const;
	};

	std::unique_ptr<ZSTD_DCtx_s, closer> stream_;
	std::vector<char> left_;
};

} // namespace cli
