// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfdata/folded.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "terminal/text.hpp"

namespace cli {

void add_frame(std::string &stack, std::string_view name)
{
	std::string frame = printable(name);

	std::replace(frame.begin(), frame.end(), ';', ':');
	if (!stack.empty())
		stack += ';';
	stack += frame.empty() ? "[unknown]" : frame;
}

static std::string in_brackets(const std::string &object)
{
	return object.starts_with('[') ? object : "[" + object + "]";
}

static std::string name_of(const perf_file &file, const file_frame &frame,
			   symbolizer &names)
{
	// A call may be the last instruction of its function.
	const uint64_t address = frame.ip - (frame.calls && frame.ip);

	switch (frame.mode) {
	case cpu_mode::kernel: {
		const code_name &n = names.recorded_kernel(address);

		return (n.function.empty() ? n.object : n.function) + "_[k]";
	}
	case cpu_mode::user: {
		if (frame.mapping == SIZE_MAX)
			return "[unknown]";

		const code_name &n = names.recorded_user(
			file.mappings[frame.mapping], address);

		return n.function.empty() ? in_brackets(n.object) : n.function;
	}
	case cpu_mode::guest:
		return "[guest]";
	case cpu_mode::hypervisor:
		return "[hypervisor]";
	case cpu_mode::unknown:
		break;
	}
	return "[unknown]";
}

static std::string stack_of(const perf_file &file, const file_sample &sample,
			    symbolizer &names)
{
	const auto all = file.frames_of(sample);
	const auto frames = all.first(std::min(all.size(), most_frames));
	std::string stack;

	add_frame(stack, sample.tid ? sample.task : "idle");
	for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
		add_frame(stack, name_of(file, *frame, names));
	if (frames.empty())
		add_frame(stack, name_of(file,
					 {sample.ip, sample.mapping,
					  sample.mode, false},
					 names));
	return stack;
}

std::map<std::string, long double> fold(const perf_file &file,
					const profile &samples,
					const profile_event &event,
					symbolizer &names)
{
	std::map<std::string, long double> stacks;

	for (const file_sample *sample : event.samples)
		stacks[stack_of(file, *sample, names)] +=
			samples.counts_of(*sample);
	if (file.lost)
		stacks[std::string(lost_stack)] =
			file.lost * event.counts / event.samples.size();
	return stacks;
}

std::string folded_text(const std::map<std::string, long double> &stacks)
{
	long double sum = 0, printed = 0;
	std::string text;

	for (const auto &[stack, count] : stacks) {
		sum += count;

		const long double whole = std::round(sum) - printed;

		printed += whole;
		if (whole > 0)
			text += fmt::format("{} {:.0f}\n", stack, whole);
	}
	return text;
}

} // namespace cli
