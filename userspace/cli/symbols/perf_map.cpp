// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that were made at run time.
#include "symbols/perf_map.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cli {

/// The whole file, or one byte more than the limit.
static std::vector<char> contents(int fd, size_t size)
{
	std::vector<char> text;
	ssize_t got = 0;
	size_t used = 0;

	// It may grow while it is read: a program may be writing it.
	do {
		used += size_t(got);
		text.resize(std::min(used + std::max<size_t>(size, 65536),
				     perf_map::max_size + 1));
		got = pread(fd, text.data() + used, text.size() - used,
			    off_t(used));
	} while (got > 0);
	text.resize(used);
	return text;
}

static uncore::error too_large()
{
	return {uncore::errc::invalid,
		fmt::format("larger than {} MiB", perf_map::max_size >> 20)};
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

uncore::result<perf_map> perf_map::read(int fd, uid_t owner)
{
	struct stat status;
	perf_map made;

	if (fstat(fd, &status))
		return uncore::error{uncore::errc::system,
				     std::strerror(errno)};
	if (status.st_uid && status.st_uid != geteuid() &&
	    status.st_uid != owner)
		return uncore::error{
			uncore::errc::permission,
			fmt::format("it belongs to user {}, not to the "
				    "process's user",
				    status.st_uid)};
	if (status.st_size > off_t(max_size))
		return too_large();
	made.text_ = contents(fd, size_t(status.st_size) + 1);
	if (made.text_.size() > max_size)
		return too_large();

	std::string_view rest(made.text_.data(), made.text_.size());

	while (!rest.empty()) {
		size_t length = std::min(rest.find('\n'), rest.size());
		std::string_view line = rest.substr(0, length);
		function f{};

		rest.remove_prefix(std::min(length + 1, rest.size()));
		if (!take_number(line, f.start) || !take_number(line, f.size) ||
		    line.empty())
			continue;
		f.name = line;
		made.functions_.push_back(f);
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

	return address - found.start < found.size ? found.name
						  : std::string_view();
}

} // namespace cli
