// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/script.hpp"

#include <algorithm>
#include <charconv>

#include "terminal/text.hpp"
#include "text.hpp"

namespace cli {

using uncore::trim;

/// Take the last word off a text.
static std::string_view take_last(std::string_view &text)
{
	text = trim(text);

	const size_t space = text.rfind(' ');
	const std::string_view word = text.substr(space + 1);

	text = space == text.npos ? "" : trim(text.substr(0, space));
	return word;
}

static std::string frame_name(std::string_view name)
{
	std::string frame = printable(name);

	std::replace(frame.begin(), frame.end(), ';', ':');
	return frame.empty() ? "[unknown]" : frame;
}

std::vector<std::string> perf_script_words()
{
	// Without -F perf prints other fields for each type of event.
	return {"script", "-F", "comm,event,period,ip,sym,dso", "--no-inline"};
}

/// Parse the first line of a sample: "TASK  PERIOD EVENT: ".  Its frames are in the next
/// lines; a sample without a call chain has its only frame in this line.
void script_reader::begin_sample(std::string_view line)
{
	size_t colon = line.find(": ");

	while (colon != line.npos) {
		std::string_view head = line.substr(0, colon);
		const std::string_view event = take_last(head);
		const std::string_view digits = take_last(head);
		uint64_t period = 0;
		const auto [end, error] = std::from_chars(
			digits.data(), digits.data() + digits.size(), period);

		if (error == std::errc() &&
		    end == digits.data() + digits.size() && !event.empty()) {
			sample_ = {printable(event), "", double(period)};
			task_ = frame_name(head);
			open_ = true;
			if (const auto frame = trim(line.substr(colon + 2));
			    !frame.empty())
				add_frame(frame);
			return;
		}
		// This colon is in the task's name: try the next.
		colon = line.find(": ", colon + 1);
	}
}

/// Parse "ADDRESS FUNCTION (OBJECT)".
void script_reader::add_frame(std::string_view text)
{
	text = trim(text);

	const size_t space = text.find(' ');
	const std::string_view address = text.substr(0, space);
	std::string_view function =
		space == text.npos ? "" : trim(text.substr(space + 1));
	const size_t bracket = function.rfind('(');
	std::string_view object;

	if (frames_.size() == most_frames)
		return;
	if (bracket != function.npos) {
		object = function.substr(bracket + 1);
		object = object.substr(0, object.rfind(')'));
		object = object.substr(object.rfind('/') + 1);
		function = trim(function.substr(0, bracket));
	}
	if (!function.empty() && function != "[unknown]")
		frames_.push_back(frame_name(function));
	else if (object.starts_with('['))
		frames_.push_back(frame_name(object));
	else
		frames_.push_back("[" + frame_name(object) + "]");
	// The kernel has the upper half of the 64-bit addresses.
	if (address.size() == 16 && address[0] >= '8')
		frames_.back() += "_[k]";
}

void script_reader::add(std::string_view line)
{
	if (trim(line).empty())
		end();
	else if (line[0] == '\t' && open_)
		add_frame(line);
	else if (line[0] != '\t') {
		end();
		begin_sample(line);
	}
}

void script_reader::end()
{
	if (open_) {
		sample_.stack = task_;
		for (auto frame = frames_.rbegin(); frame != frames_.rend();
		     ++frame)
			sample_.stack += ";" + *frame;
		take_(sample_);
	}
	frames_.clear();
	open_ = false;
}

} // namespace cli
