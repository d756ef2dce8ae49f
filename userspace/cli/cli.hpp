// SPDX-License-Identifier: GPL-2.0-or-later
// What the subcommands of uncore share: how they are registered, how they fail,
// and in which form they print.  A subcommand is one file with one add_...()
// function, which is listed in main.cpp.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

namespace cli {

enum class format { human, csv, json };

/// Exit statuses.
enum : int { success = 0, failure = 1, usage = 2 };

/// What every subcommand knows.
struct context {
	/// --sysfs; tests give recorded trees.
	std::filesystem::path sysfs = "/sys";
	/// What to do once the command line is understood; returns the exit
	/// status.
	std::function<int()> action;
};

/// A subcommand with its description; @p action runs when it is chosen.
///
///     void cli::add_list(CLI::App &app, context &shared)
///     {
///             auto options = std::make_shared<list_options>();
///             auto *command = add_command(app, shared, "list", "Show ...",
///                                         [=, &shared] { return list(...); });
///             command->add_option(...);
///     }
CLI::App *add_command(CLI::App &app, context &shared, const char *name,
		      const char *description, std::function<int()> action);

/// The subcommand of that name, or nullptr.
const CLI::App *find_command(const CLI::App &app, std::string_view name);

/// Adds --csv and --json.
void add_format(CLI::App &command, format &chosen);

/// Prints "uncore: MESSAGE", one line, on standard error.
/// @return the exit status for it.
int fail(const uncore::error &failure);
int fail(std::string_view message);
/// For what is wrong with the command line.
int fail_usage(std::string_view message);

/// Prints "uncore: MESSAGE" on standard error; what is printed beside it holds.
void note(std::string_view message);

/// @return whether the output is for a person's terminal that shows colour:
/// a terminal, NO_COLOR not set, TERM not dumb.
bool colour(std::FILE *out);

/// Text with emphasis, or as it is where there is no colour.
std::string bold(std::FILE *out, std::string_view text);
std::string dim(std::FILE *out, std::string_view text);
std::string red(std::FILE *out, std::string_view text);
std::string yellow(std::FILE *out, std::string_view text);
std::string green(std::FILE *out, std::string_view text);

/// Columns as wide as their widest cell.  Widths count characters of UTF-8, and
/// escape sequences not at all.
class table {
public:
	enum class align { left, right };

	struct column {
		std::string title;
		table::align align = align::left;
	};

	explicit table(std::vector<column> columns);
	/// Missing cells are empty.
	void add(std::vector<std::string> row);
	/// An empty line.
	void gap() { rows_.emplace_back(); }
	/// Titles in bold if any is not empty.
	void print(std::FILE *out) const;
	/// What print() prints; without emphasis when @p out is null.
	std::vector<std::string> lines(std::FILE *out = nullptr) const;

private:
	std::vector<column> columns_;
	std::vector<std::vector<std::string>> rows_;
};

/// A comma-separated value, in quotes where it needs them (RFC 4180), and a
/// line of them.
std::string csv_cell(std::string_view cell);
std::string csv_line(const std::vector<std::string> &cells);

/// How many columns a text takes on a terminal.
size_t width(std::string_view text);

/// The shortest decimal text that reads back as the same number; "" for none.
std::string exact(double value);

/// In small letters.
std::string lower(std::string_view text);

/// "0-17,36"
std::string cpu_list(std::span<const int> cpus);

/// "xeon_uncore", "intel_uncore"; "" for another.
const char *driver_name(uncore::driver driver);
/// The driver of the uncore PMUs, JSON's null where there is none.
nlohmann::ordered_json driver_name(const uncore::topology &machine);

/// Prints what the last of @p words, which follow the command's name, may
/// become.
int complete(const CLI::App &app, const std::vector<std::string> &words);

// The subcommands, each in the file of its name.
void add_check(CLI::App &app, context &shared);
void add_flamegraph(CLI::App &app, context &shared);
void add_list(CLI::App &app, context &shared);
void add_metric(CLI::App &app, context &shared);
void add_record(CLI::App &app, context &shared);
void add_report(CLI::App &app, context &shared);
void add_stat(CLI::App &app, context &shared);
void add_topology(CLI::App &app, context &shared);
void add_top(CLI::App &app, context &shared);

} // namespace cli
