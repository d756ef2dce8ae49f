// SPDX-License-Identifier: GPL-2.0-or-later
// The text that perf script prints, as folded stacks.
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

/// Words of the call of perf whose output script_reader reads.
std::vector<std::string> perf_script_words();

/// Collects lines to samples.  Names are those of other users' tasks and
/// programs: no name looks like several frames, or controls a terminal.
class script_reader {
public:
	explicit script_reader(std::function<void(const script_sample &)> take)
		: take_(std::move(take))
	{
	}

	void add(std::string_view line);
	/// After the last line.
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
