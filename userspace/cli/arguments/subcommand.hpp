// SPDX-License-Identifier: GPL-2.0-or-later
// Registration of subcommands, and the options that several have.  A subcommand is
// one file in commands/ with the function add_NAME().
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "arguments/command_line.hpp"
#include "process/exit_status.hpp"

namespace cli {

enum class format { human, csv, json };

/// What every subcommand knows.
struct context {
	/// --sysfs; tests give recorded trees.
	std::filesystem::path sysfs = "/sys";
	/// The command line.
	std::vector<std::string> words;
	/// What to do once the command line is understood; returns the exit
	/// status.
	std::function<int()> action;
	/// Options that record passes to perf.
	std::vector<std::string> perf_options;
};

/// A subcommand with its description; @p action runs when it is chosen.
///
///     void cli::add_list(parser &app, context &shared)
///     {
///             auto options = std::make_shared<list_options>();
///             parser command = add_command(app, shared, "list", "Show ...",
///                                          [=, &shared] { return list(...);
///                                          });
///             add_examples(command, "uncore list", "uncore list imc");
///             command.add_option(...);
///     }
parser add_command(parser &app, context &shared, const char *name,
		   const char *description, std::function<int()> action);

/// Two examples below its help, that do something on any machine with a
/// driver.
void add_examples(parser &command, const char *first, const char *second);

/// Adds --csv and --json, which has another name in some subcommands.
void add_format(parser &command, format &chosen,
		const char *json = "-j,--json");
/// Adds -o.
void add_output(parser &command, std::string &path);

} // namespace cli
