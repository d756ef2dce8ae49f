// SPDX-License-Identifier: GPL-2.0-or-later
// uncore: the uncore performance counters of Intel Xeon processors, for people.
// This file reads the command line; each subcommand is in a file of its own.
#include "cli.hpp"

#include <uncore/version.hpp>

namespace cli {

CLI::App *add_command(CLI::App &app, context &shared, const char *name,
		      const char *description, std::function<int()> action)
{
	CLI::App *command = app.add_subcommand(name, description);

	command->callback([&shared, action = std::move(action)] {
		shared.action = action;
	});
	return command;
}

const CLI::App *find_command(const CLI::App &app, std::string_view name)
{
	for (const CLI::App *command : app.get_subcommands({}))
		if (command->get_name() == name)
			return command;
	return nullptr;
}

void add_format(CLI::App &command, format &chosen)
{
	CLI::Option *csv = command.add_flag_callback(
		"--csv", [&chosen] { chosen = format::csv; },
		"Comma-separated values, for programs");
	command.add_flag_callback(
		       "--json", [&chosen] { chosen = format::json; },
		       "JSON, for programs")
		->excludes(csv);
}

} // namespace cli

/// What CLI11 says, without line breaks and without its full stop.
static std::string one_line(const CLI::App &app, const CLI::ParseError &error)
{
	std::string program = "uncore", text = error.what();

	for (const CLI::App *command : app.get_subcommands())
		program += " " + command->get_name();
	return text + " (see " + program + " --help)";
}

/// The first word that is no option, if there is no such subcommand; CLI11
/// would only say that one is missing.
static std::string unknown_command(const CLI::App &app, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const std::string_view word = argv[i];

		if (word == "--sysfs")
			i++;
		else if (!word.starts_with('-'))
			return cli::find_command(app, argv[i]) ? "" : argv[i];
	}
	return {};
}

static std::string names_of_commands(const CLI::App &app)
{
	std::string names;

	for (const CLI::App *command : app.get_subcommands({}))
		names += (names.empty() ? "" : ", ") + command->get_name();
	return names;
}

int main(int argc, char **argv)
{
	CLI::App app("Uncore performance counters of Intel Xeon processors",
		     "uncore");
	cli::context shared;

	app.set_version_flag("--version",
			     fmt::format("uncore {}", uncore::version()));
	app.add_option("--sysfs", shared.sysfs, "Where sysfs is mounted")
		->group("");
	app.require_subcommand(1);
	cli::add_check(app, shared);
	cli::add_flamegraph(app, shared);
	cli::add_list(app, shared);
	cli::add_metric(app, shared);
	cli::add_record(app, shared);
	cli::add_report(app, shared);
	cli::add_stat(app, shared);
	cli::add_topology(app, shared);
	cli::add_top(app, shared);

	if (argc > 1 && argv[1] == std::string_view("__complete"))
		return cli::complete(app, {argv + 2, argv + argc});
	if (const auto name = unknown_command(app, argc, argv); !name.empty())
		return cli::fail_usage(
			fmt::format("there is no subcommand '{}'; there are {}",
				    name, names_of_commands(app)));

	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		if (error.get_exit_code() == 0)
			return app.exit(error);
		return cli::fail_usage(one_line(app, error));
	}
	try {
		return shared.action();
	} catch (const std::exception &error) {
		return cli::fail(error.what());
	}
}
