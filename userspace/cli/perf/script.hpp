// SPDX-License-Identifier: GPL-2.0-or-later
// Folded stacks from the output of perf script.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Functions of a stack; outer functions are left out of a longer stack.
inline constexpr size_t most_frames = 1000;

struct script_sample {
	std::string event;
	/// "TASK;OUTER;INNER"; functions of the kernel end with _[k].
	std::string stack;
	double period = 0;
};

/// Get the arguments of perf for output that script_reader reads.
std::vector<std::string> perf_script_words();

/// Makes samples of lines.  Names can come from tasks and programs of other
/// users: a name in a sample never looks like several frames, or controls a
/// terminal.
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
	bool open_ = false;
};

} // namespace cli
