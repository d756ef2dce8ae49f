// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the output of perf script, and makes folded stacks: a sample's call chain in one
// line, "TASK;OUTER;INNER".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Limit of the functions of a stack.  Of a longer stack, the outermost functions are left
/// out.
inline constexpr size_t most_frames = 1000;

struct script_sample {
	std::string event;
	/// "TASK;OUTER;INNER"; functions of the kernel end with _[k].
	std::string stack;
	double period = 0;
};

/// Get the arguments with which perf prints what script_reader reads.
std::vector<std::string> perf_script_words();

/// Makes samples from lines of perf script.  Names of tasks and functions are chosen by
/// other users' programs.  So in a name, semicolons are replaced, which would look like
/// several functions, and control characters, which would control a terminal.
class script_reader {
public:
	explicit script_reader(std::function<void(const script_sample &)> take)
		: take_(std::move(take))
	{
	}

	void add(std::string_view line);
	/// End the last sample, after the last line.
	void end();

private:
	void begin_sample(std::string_view line);
	void add_frame(std::string_view text);

	std::function<void(const script_sample &)> take_;
	script_sample sample_;
	std::string task_;
	std::vector<std::string> frames_; ///< innermost first
	bool open_ = false; ///< the sample's first line was read
};

} // namespace cli
