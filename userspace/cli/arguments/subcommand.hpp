// SPDX-License-Identifier: GPL-2.0-or-later
// Registration of subcommands, and the options that subcommands share.  A
// subcommand is one file in commands/ with the function add_NAME().
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "arguments/command_line.hpp"
#include "process/exit_status.hpp"

namespace cli {

enum class format { human, csv, json };

/// Context of every subcommand.
struct context {
	/// --sysfs; tests pass recorded trees.
	std::filesystem::path sysfs = "/sys";
	/// The command line.
	std::vector<std::string> words;
	/// Action of the parsed command line; returns the exit status.
	std::function<int()> action;
	/// Options that record passes to perf.
	std::vector<std::string> perf_options;
};

/// Add a subcommand; @p action runs if the command line has the subcommand.
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

/// Add two examples below the help, which work on any machine with a driver.
void add_examples(parser &command, const char *first, const char *second);

/// Add --csv and --json; some subcommands have another name for --json.
void add_format(parser &command, format &form, const char *json = "-j,--json");
/// Add -o.
void add_output(parser &command, std::string &path);

} // namespace cli
