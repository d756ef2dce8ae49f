// SPDX-License-Identifier: GPL-2.0-or-later
// What the subcommands of uncore share: how they are registered, how they fail,
// and in which form they print.  A subcommand is one file in commands/ with the
// function add_NAME().
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json_fwd.hpp>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

#include "common/command_line.hpp"

namespace cli {

enum class format { human, csv, json };

/// Exit statuses; the man page has a table of them.
enum : int {
	success = 0,
	failure = 1,
	usage = 2,
	incomplete = 3,	      ///< written, without samples that were lost
	not_executable = 126, ///< the command to measure, as in a shell
	no_command = 127,     ///< there is no such command
	/// With a signal's number added: main() ends by this signal.
	by_signal = 256,
};

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

/// Adds --csv and --json.
void add_format(parser &command, format &chosen);

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

/// How many columns the terminal has that @p out is; 0 when it is none.
size_t columns_of(std::FILE *out);
/// Each line of @p text cut to so many columns; 0: as they are.
std::string fit(std::string_view text, size_t columns);
/// A line cut in its middle, "/kubepods.slice...d4c.scope": paths begin alike and
/// end with what tells them apart.
std::string fit_middle(std::string_view text, size_t columns);

/// @p text in lines of so many columns (0: one line), broken between words
/// where possible.  The first begins with @p head, the others with as many
/// spaces as leave room.
std::vector<std::string> wrap(std::string head, std::string_view text,
			      size_t columns);

/// Columns as wide as their widest cell.  Widths are a terminal's; escape
/// sequences have none.
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
	/// Titles in bold if any is not empty.  Lines are cut to a terminal's
	/// width.
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

/// JSON with bytes that are no UTF-8 replaced: names may hold anything.
/// @param indent -1 for one line.
std::string dump(const nlohmann::ordered_json &document, int indent);

/// How many columns a text takes on a terminal.
size_t width(std::string_view text);

/// The shortest decimal text that reads back as the same number; "" for none.
std::string exact(double value);

/// In small letters.
std::string lower(std::string_view text);

/// "0-17,36"
std::string cpu_list(std::span<const int> cpus);

/// "xeon_uncore", "intel_uncore"; "" for another.
const char *driver_name(uncore::pmu_driver driver);
/// The driver of the uncore PMUs, JSON's null where there is none.
nlohmann::ordered_json driver_name(const uncore::topology &machine);

} // namespace cli
