// SPDX-License-Identifier: GPL-2.0-or-later
// uncore: the uncore performance counters of Intel Xeon processors, for people.
// This file reads the command line; commands/ has a file for each subcommand.
#include "commands/commands.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>

#include <fmt/format.h>

#include <uncore/version.hpp>

#include "arguments/help.hpp"
#include "output/message.hpp"
#include "process/child.hpp"
#include "process/signals.hpp"

/// Find the first word that is not an option, and return it if it is not a
/// subcommand: CLI11's message would not name it.
static std::string unknown_command(const cli::parser &app, int argc,
				   char **argv)
{
	for (int i = 1; i < argc; i++) {
		const std::string_view word = argv[i];

		if (word == "--sysfs")
			i++;
		else if (!word.starts_with('-'))
			return app.find_command(word) ? "" : argv[i];
	}
	return {};
}

static std::string names_of_commands(const cli::parser &app)
{
	std::string names;

	for (const cli::parser &command : app.commands())
		names += (names.empty() ? "" : ", ") + command.name();
	return names;
}

/// What was printed may have met a full disk only now.
static int finish(int status)
{
	if (!std::fflush(stdout) && !std::ferror(stdout))
		return status;
	// The reader of a pipe may leave when it has seen enough.
	if (errno == EPIPE)
		return status ? status : cli::failure;
	return cli::fail(
		fmt::format("standard output: {}", std::strerror(errno)));
}

/// Keep numbers 0 to 2 for the standard streams: a file that is opened while
/// one of them is closed would get its number, and the text that is printed.
/// Reading and writing them still fails.
static void reserve_standard_streams()
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

int main(int argc, char **argv)
{
	reserve_standard_streams();

	cli::command_line app(
		"uncore",
		"Uncore performance counters of Intel Xeon processors",
		fmt::format("uncore {}", uncore::version()));
	cli::context shared;

	app.add_option("--sysfs", shared.sysfs, "Where sysfs is mounted")
		.hidden();
	shared.action = [&shared] { return cli::overview(shared); };
	for (const auto add : cli::add_functions)
		add(app, shared);

	if (argc > 1 && argv[1] == std::string_view("__complete"))
		return cli::complete(app, {argv + 2, argv + argc});
	if (const auto name = unknown_command(app, argc, argv); !name.empty())
		return cli::fail_usage(
			fmt::format("there is no subcommand '{}'; there are {}",
				    name, names_of_commands(app)));

	const auto parsed =
		app.parse(cli::separate_command(app, {argv + 1, argv + argc}));
	if (!parsed)
		return cli::fail_usage(parsed.error().message);
	if (!*parsed)
		return finish(cli::success);
	cli::raise_file_limit();
	try {
		const int status = finish(shared.action());

		return status > cli::by_signal
			       ? cli::end_by(status - cli::by_signal)
			       : status;
	} catch (const std::exception &error) {
		// fmt throws when it cannot print.
		if (std::ferror(stdout))
			return finish(cli::failure);
		return cli::fail(error.what());
	}
}
