// SPDX-License-Identifier: GPL-2.0-or-later
// Test how uncore record separates its own options from options for perf.
#include "commands/commands.hpp"

#include <gtest/gtest.h>

namespace {

using list = std::vector<std::string>;

/// Get the words for uncore and the words for perf.
std::pair<list, list> separate(const list &words)
{
	cli::command_line app("uncore", "", "");
	cli::context shared;

	cli::add_record(app, shared);

	const list own = cli::take_perf_options(app, words, shared);

	return {own, shared.perf_options};
}

TEST(pass_through, letters_and_words)
{
	EXPECT_EQ(separate({"record", "-e", "A", "-o", "-", "-C", "0-3", "-g",
			    "--call-graph", "fp", "-c", "100", "-a", "-D",
			    "500", "make", "-e", "-j"}),
		  (std::pair<list, list>{
			  {"record", "-e", "A", "--", "make", "-e", "-j"},
			  {"-o", "-", "-C", "0-3", "-g", "--call-graph", "fp",
			   "-c", "100", "-a", "-D", "500"}}));
	EXPECT_EQ(
		separate({"record", "--event=A", "--output=f", "--", "--none"}),
		(std::pair<list, list>{{"record", "--event=A", "--", "--none"},
				       {"--output=f"}}));
}

TEST(pass_through, letters_together)
{
	EXPECT_EQ(separate({"record", "-age", "A", "-F99", "-z3", "-eB"}),
		  (std::pair<list, list>{{"record", "-e", "A", "-eB"},
					 {"-ag", "-F99", "-z3"}}));
	EXPECT_EQ(
		separate({"record", "-gF", "99", "ls"}),
		(std::pair<list, list>{{"record", "--", "ls"}, {"-gF", "99"}}));
}

TEST(pass_through, own_options)
{
	EXPECT_EQ(separate({"--sysfs", "/s", "record", "--series", "f", "-d",
			    "5", "-h"}),
		  (std::pair<list, list>{{"--sysfs", "/s", "record", "--series",
					  "f", "-d", "5", "-h"},
					 {}}));
	EXPECT_EQ(separate({"stat", "-e", "A", "record", "-g"}).second, list{});
	EXPECT_EQ(separate({"--sysfs", "record", "record", "-g"}).second,
		  list{"-g"});
	EXPECT_EQ(separate({"record", "-c"}).second, list{"-c"});
}

} // namespace
