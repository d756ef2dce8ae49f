// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that were made at run time.
#include "symbols/perf_map.hpp"

#include <algorithm>
#include <charconv>

#include <unistd.h>

namespace cli {

static std::string contents(int fd)
{
	std::string text;
	char part[65536];
	off_t at = 0;

	for (ssize_t got; (got = pread(fd, part, sizeof(part), at)) > 0;) {
		text.append(part, got);
		at += got;
	}
	return text;
}

/// Takes a hexadecimal number and the blank behind it.
static bool take_number(std::string_view &line, uint64_t &number)
{
	if (line.starts_with("0x"))
		line.remove_prefix(2);

	auto [end, error] = std::from_chars(
		line.data(), line.data() + line.size(), number, 16);

	if (error != std::errc() || end == line.data() + line.size() ||
	    *end != ' ')
		return false;
	line.remove_prefix(end - line.data() + 1);
	return true;
}

perf_map perf_map::read(int fd)
{
	std::string text = contents(fd);
	std::string_view rest = text;
	perf_map made;

	while (!rest.empty()) {
		size_t length = std::min(rest.find('\n'), rest.size());
		std::string_view line = rest.substr(0, length);
		function f{};

		rest.remove_prefix(std::min(length + 1, rest.size()));
		if (!take_number(line, f.start) || !take_number(line, f.size) ||
		    line.empty())
			continue;
		f.name = line;
		made.functions_.push_back(std::move(f));
	}
	// Of those at one place the latest is there.
	std::stable_sort(made.functions_.begin(), made.functions_.end(),
			 [](const function &a, const function &b) {
				 return a.start < b.start;
			 });
	return made;
}

std::string_view perf_map::find(uint64_t address) const
{
	auto next =
		std::upper_bound(functions_.begin(), functions_.end(), address,
				 [](uint64_t value, const function &f) {
					 return value < f.start;
				 });

	if (next == functions_.begin())
		return {};

	const function &found = *std::prev(next);

	return address - found.start < found.size ? std::string_view(found.name)
						  : std::string_view();
}

} // namespace cli
