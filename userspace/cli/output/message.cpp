// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/message.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "terminal/layout.hpp"
#include "terminal/text.hpp"

namespace cli {

int fail(std::string_view message)
{
	// One line, even if a message of another library has several.
	std::string line(message);
	std::replace(line.begin(), line.end(), '\n', ' ');
	line = printable(line);
	std::fflush(stdout);

	// If the flush has failed, finish() in run.cpp reports errno at the end:
	// keep errno while the message is printed.
	const int error = errno;

	for (const std::string &part :
	     wrap("uncore: ", line, columns_of(stderr)))
		fmt::print(stderr, "{}\n", part);
	errno = error;
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
