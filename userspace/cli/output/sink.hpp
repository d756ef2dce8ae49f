// SPDX-License-Identifier: GPL-2.0-or-later
// Where the numbers of stat, metric and top go: standard output or -o's file.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include <uncore/error.hpp>

#include "process/output_file.hpp"

namespace cli {

/// Standard output or a file, through one buffer that is written at once.
class sink {
public:
	sink() = default;
	sink(const sink &) = delete;

	/// @param path empty for standard output.
	/// Errors: errc::system.
	uncore::result<void>
	open(const std::string &path,
	     output_file::content old = output_file::content::replace);
	/// Write to standard error where open() names no file, as perf stat
	/// does.
	void use_standard_error();
	std::FILE *file() const
	{
		return output_ ? output_->stream() : standard_;
	}
	/// @return false when it cannot be written; says why, unless the reader
	/// of a pipe has left.
	bool write(std::string_view text);
	/// The same for people: lines are wrapped at a terminal's width.
	bool show(std::string_view text);

private:
	std::string name_ = "standard output";
	std::FILE *standard_ = stdout;
	std::optional<output_file> output_;
};

} // namespace cli
