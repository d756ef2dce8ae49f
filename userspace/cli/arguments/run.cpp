// SPDX-License-Identifier: GPL-2.0-or-later
#include "arguments/run.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>

#include <fmt/format.h>

#include "output/message.hpp"
#include "process/child.hpp"
#include "process/signals.hpp"

namespace cli {

void reserve_standard_streams()
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

/// Flush standard output: an error such as a full disk may be reported only now.
/// @return the exit status.
static int finish(int status)
{
	if (!std::fflush(stdout) && !std::ferror(stdout))
		return status;
	// No message if the reader of a pipe, such as head, has closed the pipe.
	if (errno == EPIPE)
		return status ? status : failure;
	fail(fmt::format("standard output: {}", std::strerror(errno)));
	return status ? status : failure;
}

int run(command_line &app, context &shared, std::vector<std::string> words)
{
	const auto parsed = app.parse(std::move(words));

	if (!parsed)
		return fail_usage(parsed.error().message);
	if (!*parsed)
		return finish(success);
	raise_file_limit();
	try {
		const int status = finish(shared.action());

		return status > by_signal ? end_by(status - by_signal) : status;
	} catch (const std::exception &error) {
		// fmt throws if printing fails.
		if (std::ferror(stdout))
			return finish(failure);
		return fail(error.what());
	}
}

} // namespace cli
