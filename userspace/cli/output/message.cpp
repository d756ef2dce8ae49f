// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/message.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "terminal/text.hpp"

namespace cli {

int fail(std::string_view message)
{
	// One line, whatever a message from elsewhere may hold.
	std::string line(message);
	std::replace(line.begin(), line.end(), '\n', ' ');
	line = printable(line);
	std::fflush(stdout);
	fmt::print(stderr, "uncore: {}\n", line);
	return failure;
}

void note(std::string_view message)
{
	(void)fail(message);
}

int fail(const uncore::error &failure)
{
	return fail(failure.message);
}

int fail_usage(std::string_view message)
{
	fail(message);
	return usage;
}

} // namespace cli
