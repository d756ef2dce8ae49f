// SPDX-License-Identifier: GPL-2.0-or-later
// uncore-serve: the program that uncore serve executes.  The arguments are an
// optional --sysfs and the arguments of the subcommand.
#include <fmt/format.h>

#include <uncore/version.hpp>

#include "arguments/run.hpp"
#include "commands/serve.hpp"
#include "serve/serve.hpp"

int main(int argc, char **argv)
{
	cli::reserve_standard_streams();

	cli::command_line app(
		"uncore",
		"Uncore performance counters of Intel Xeon processors",
		fmt::format("uncore {}", uncore::version()));
	cli::context shared;

	app.add_option("--sysfs", shared.sysfs, "Where sysfs is mounted")
		.hidden();
	cli::add_serve(app, shared,
		       [&shared](const cli::serve_options &options) {
			       return cli::serve(shared.sysfs, options);
		       });
	shared.words = {argv + 1, argv + argc};

	auto word = shared.words.begin();

	if (word != shared.words.end() && word->starts_with("--sysfs"))
		word += *word == "--sysfs" && shared.words.size() > 1 ? 2 : 1;
	shared.words.insert(word, "serve");
	return cli::run(app, shared, shared.words);
}
