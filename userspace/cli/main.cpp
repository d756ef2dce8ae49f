// SPDX-License-Identifier: GPL-2.0-or-later
// uncore: the uncore performance counters of Intel Xeon processors, for people.
// This file reads the command line; commands/ has a file for each subcommand.
#include "commands/commands.hpp"

#include <fmt/format.h>

#include <uncore/version.hpp>

#include "arguments/help.hpp"
#include "arguments/run.hpp"
#include "output/message.hpp"

/// Get the words of the command line; for "help stat", "stat --help".
static std::vector<std::string> words_of(int argc, char **argv)
{
	std::vector<std::string> words(argv + 1, argv + argc);

	if (!words.empty() && words.front() == "help") {
		words.erase(words.begin());
		words.insert(words.begin() + !words.empty(), "--help");
	}
	return words;
}

/// Find the first word that is not an option; "" without such a word.
static std::string first_word(const std::vector<std::string> &words)
{
	for (size_t i = 0; i < words.size(); i++) {
		if (words[i] == "--sysfs")
			i++;
		else if (!words[i].starts_with('-'))
			return words[i];
	}
	return {};
}

/// Add the subcommand called @p name, or all subcommands for an unknown name.
/// The options of a subcommand cost more time than a count.
/// @return whether a subcommand has the name.
static bool add_subcommands(std::string_view name, cli::parser &app,
			    cli::context &shared)
{
	for (const cli::subcommand &command : cli::subcommands)
		if (name == command.name) {
			command.add(app, shared);
			return true;
		}
	for (const cli::subcommand &command : cli::subcommands)
		command.add(app, shared);
	return false;
}

static std::string names_of_commands(const cli::parser &app)
{
	std::string names;

	for (const cli::parser &command : app.commands())
		names += (names.empty() ? "" : ", ") + command.name();
	return names;
}

int main(int argc, char **argv)
{
	cli::reserve_standard_streams();

	cli::command_line app(
		"uncore",
		"Uncore performance counters of Intel Xeon processors",
		fmt::format("uncore {}", uncore::version()));
	cli::context shared;

	shared.words = words_of(argc, argv);
	app.add_option("--sysfs", shared.sysfs, "Where sysfs is mounted")
		.hidden();
	shared.action = [&shared] { return cli::overview(shared); };

	const std::string name = first_word(shared.words);
	const bool is_subcommand = add_subcommands(name, app, shared);

	if (argc > 1 && argv[1] == std::string_view("__complete"))
		return cli::complete(app, {argv + 2, argv + argc});
	// CLI11's message would not name the word.
	if (!is_subcommand && !name.empty())
		return cli::fail_usage(
			fmt::format("there is no subcommand '{}'; there are {}",
				    name, names_of_commands(app)));

	const auto words = cli::take_perf_options(app, shared.words, shared);

	return cli::run(app, shared, cli::separate_command(app, words));
}
