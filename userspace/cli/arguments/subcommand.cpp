// SPDX-License-Identifier: GPL-2.0-or-later
#include "arguments/subcommand.hpp"

#include <fmt/format.h>

namespace cli {

parser add_command(parser &app, context &shared, const char *name,
		   const char *description, std::function<int()> action)
{
	return app.add_command(name, description,
			       [&shared, action = std::move(action)] {
				       shared.action = action;
			       });
}

void add_examples(parser &command, const char *first, const char *second)
{
	command.footer(fmt::format("Examples:\n  {}\n  {}", first, second));
}

void add_format(parser &command, format &form, const char *json)
{
	const option csv = command.add_flag(
		"--csv", [&form] { form = format::csv; },
		"Comma-separated values, for programs");
	command.add_flag(
		       json, [&form] { form = format::json; },
		       "JSON, for programs")
		.excludes(csv);
}

void add_output(parser &command, std::string &path)
{
	command.add_option("-o,--output", path,
			   "Write to a file, not to standard output")
		.not_empty()
		.type_name("FILE");
}

} // namespace cli
