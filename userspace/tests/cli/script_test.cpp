// SPDX-License-Identifier: GPL-2.0-or-later
// Test the reader of perf script's text: the stacks of samples.
#include "perf/script.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace {

std::vector<std::string> stacks(std::initializer_list<const char *> lines)
{
	std::vector<std::string> samples;
	cli::script_reader script([&](const cli::script_sample &sample) {
		samples.push_back(sample.event + " " + sample.stack + " " +
				  std::to_string(long(sample.period)));
	});

	for (const char *line : lines)
		script.add(line);
	script.end();
	return samples;
}

using list = std::vector<std::string>;

TEST(script, chains)
{
	EXPECT_EQ(stacks({"Web Content 1000 hswep_ha_0/requests.reads/: ",
			  "\tffffffff821fb643 schedule ([kernel.kallsyms])",
			  "\t           ee137 f(int, char (*)[2]) "
			  "(/usr/lib/a.so)",
			  "\t          146f2c [unknown] (/usr/bin/perf)", "",
			  "swapper 7 cycles:k: ",
			  "\tffffffffc0001234 poll ([xeon_uncore])", ""}),
		  (list{"hswep_ha_0/requests.reads/ Web Content;[perf];f(int, "
			"char (*)[2]);schedule_[k] 1000",
			"cycles:k swapper;poll_[k] 7"}));
}

TEST(script, no_chains)
{
	EXPECT_EQ(
		stacks({"  ls 1 page-faults:      5576c630052d main (/bin/ls)",
			"  ls 2 page-faults:  ffffffff821fb643 [unknown] "
			"([kernel.kallsyms])"}),
		(list{"page-faults ls;main 1",
		      "page-faults ls;[kernel.kallsyms]_[k] 2"}));
}

TEST(script, names_of_tasks_forge_nothing)
{
	// Tasks with the names "a: b", "x;y", and a name with a line end and a tab.
	EXPECT_EQ(stacks({"a: b 5 cs: ", "\t1 main (/a)", "",
			  "x;y 6 cs: ", "\t1 main (/a)", "", "n", "\tgone (/a)",
			  " 7 cs: ", "\t1 \x1b[2J (/a)", ""}),
		  (list{"cs a: b;main 5", "cs x:y;main 6",
			"cs [unknown];?[2J 7"}));
	EXPECT_EQ(stacks({"no sample", "a b c: d", "9 :"}), list{});
}

TEST(script, long_chains_are_cut_off)
{
	std::vector<std::string> found;
	cli::script_reader script([&](const cli::script_sample &sample) {
		found.push_back(sample.stack);
	});

	script.add("a 1 cs: ");
	for (size_t i = 0; i < cli::most_frames + 5; i++)
		script.add("\t1 f (/a)");
	script.end();
	ASSERT_EQ(found.size(), 1u);
	EXPECT_EQ(size_t(std::count(found[0].begin(), found[0].end(), ';')),
		  cli::most_frames);
}

} // namespace
