// SPDX-License-Identifier: GPL-2.0-or-later
// Output of the numbers of stat, metric and top: standard output or -o's file.
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
	     output_file::content old_content = output_file::content::replace);
	/// Write to standard error if open() gets no path, as perf stat does.
	void use_standard_error();
	std::FILE *file() const
	{
		return output_ ? output_->stream() : standard_;
	}
	/// Write a text.
	/// @return false if writing fails.  A note has the reason, except if the
	/// reader of a pipe has closed the pipe.
	bool write(std::string_view text);
	/// Write a text for people, with lines wrapped at a terminal's width.
	bool show(std::string_view text);

private:
	std::string name_ = "standard output";
	std::FILE *standard_ = stdout;
	std::optional<output_file> output_;
};

} // namespace cli
