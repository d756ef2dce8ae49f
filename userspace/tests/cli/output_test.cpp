// SPDX-License-Identifier: LGPL-2.1-or-later
// Test text on terminals of any width: lines are wrapped and cut by columns of the
// terminal, not by bytes. Test the texts of numbers and the table of uncore top.
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "attribution/top_table.hpp"
#include "counting/count_report.hpp"
#include "output/number.hpp"
#include "terminal/layout.hpp"
#include "terminal/text.hpp"

using cli::wrap;

namespace {

using lines = std::vector<std::string>;

TEST(Wrap, BreaksBetweenWords)
{
	EXPECT_EQ(wrap("  a  ", "one two three", 12),
		  (lines{"  a  one two", "     three"}));
	EXPECT_EQ(wrap("", "one two three", 7), (lines{"one two", "three"}));
}

TEST(Wrap, LongWordsWhereverTheyMustBe)
{
	EXPECT_EQ(wrap("", "abcdefgh ij", 3), (lines{"abc", "def", "gh", "ij"}));
	// the head of a line is broken as well
	EXPECT_EQ(wrap("  name  ", "word", 4),
		  (lines{"  na", "me", "  wo", "  rd"}));
}

TEST(Wrap, NothingIsTooLongAndNothingLost)
{
	const std::string text = "counts \u6f22\u5b57 packets, a_very_long_name "
				 "and (3 of 4) \u00b5s";
	std::istringstream words(text);
	std::string letters, word;

	while (words >> word)
		letters += word;
	for (size_t columns = 2; columns < 90; columns++)
		for (const char *head : {"", "        ", "  head  "}) {
			std::string seen;

			for (const auto &line : wrap(head, text, columns)) {
				EXPECT_LE(cli::width(line), columns) << line;
				for (char c : line)
					if (c != ' ')
						seen += c;
			}
			EXPECT_EQ(seen, (*head == ' ' && head[2] == 'h'
						 ? "head"
						 : "") +
						letters)
				<< columns;
		}
}

TEST(Wrap, OneLineWhereThereIsNoTerminal)
{
	EXPECT_EQ(wrap("  a ", "b c", 0), lines{"  a b c"});
}

TEST(Wrap, ATerminalOfOneColumn)
{
	for (const auto &line : wrap("        ", "some words", 1))
		EXPECT_LE(cli::width(line), 1u) << line;
}

TEST(Fit, CutDescriptionsEndInAnEllipsis)
{
	EXPECT_EQ(cli::fit_end("one two", 7), "one two");
	EXPECT_EQ(cli::fit_end("one two", 6), "one...");
	EXPECT_EQ(cli::fit_end("one two", 3), "");
	EXPECT_EQ(cli::fit_end("one two", 0), "one two");
}

TEST(WrapLines, NoValueIsCutOff)
{
	EXPECT_EQ(cli::wrap_lines("NAME      VALUE\n\nab  1,234 MiB\n", 11),
		  "NAME\nVALUE\n\nab  1,234\nMiB\n");
	EXPECT_EQ(cli::wrap_lines("ab  1,234\n", 0), "ab  1,234\n");
}

/// Make a table with a task for each name.
cli::top_table table_of(const std::vector<std::string> &names)
{
	cli::top_table table;

	table.seconds = 1;
	table.packages = {0};
	table.package_seconds = {1};
	table.totals = {{1000}};
	table.idle.counts = table.other.counts = {{0}};
	for (const std::string &name : names) {
		cli::top_row row;

		row.pid = row.tgid = 1;
		row.comm = name;
		row.counts = {{1000 / names.size()}};
		table.rows.push_back(row);
	}
	return table;
}

TEST(ErrorText, OfAValueAndOfNone)
{
	EXPECT_EQ(cli::error_text(200, 3, "ns"), "\u00b11.50 %");
	EXPECT_EQ(cli::error_text(-200, 3, "ns"), "\u00b11.50 %");
	EXPECT_EQ(cli::error_text(0, 0, "ns"), "\u00b10.00 %");
	// The error of a value of 0 is printed with its unit, not as a percentage.
	EXPECT_EQ(cli::error_text(0, 12.5, "cycles"), "\u00b112.50 cycles");
	EXPECT_EQ(cli::error_text(0, std::nan(""), "ns"), "\u00b1 unknown");
}

// perf and the catalogue have the units Bytes, MB, MiB and GiB/s; the command prints all
// of them with a binary prefix.
TEST(Human, BytesOfAnyUnitHaveOnePrefix)
{
	EXPECT_EQ(cli::human(1536, "Bytes"), "1.500 KiB");
	EXPECT_EQ(cli::human(39216.07, "MiB"), "38.30 GiB");
	EXPECT_EQ(cli::human(0.0305, "MiB"), "31.23 KiB");
	EXPECT_EQ(cli::human(1536, "GiB/s"), "1.500 TiB/s");
	EXPECT_EQ(cli::human(0.25, "GiB/s"), "256.0 MiB/s");
	EXPECT_EQ(cli::human(1.048576, "MB"), "1.000 MiB");
	EXPECT_EQ(cli::human(1536, "cycles"), "1,536 cycles");
}

TEST(PerSecond, HasAGapBeforeThePrefix)
{
	EXPECT_EQ(cli::per_second(12345678), "12.3 M/s");
	EXPECT_EQ(cli::per_second(812), "812 /s");
	EXPECT_EQ(cli::per_second(63.5 * (1 << 30), "B", true), "63.5 GiB/s");
}

TEST(TopText, NamesAreCutByColumns)
{
	const cli::top_table table =
		table_of({"\u6f22\u5b57\u6f22\u5b57\u6f22", "e\u0301t\u00e9",
			  "bad\xff\xc3", "control\x1b[2J"});
	cli::top_settings settings;
	cli::cgroup_names cgroups;

	settings.columns = {{"reads", 1, "", false}};
	for (size_t columns = 1; columns < 100; columns++)
		for (const auto &line :
		     cli::show_table(table, settings, cgroups, columns)) {
			EXPECT_LE(cli::width(line), columns) << line;
			EXPECT_EQ(cli::printable(line), line);
		}
}

TEST(TopText, WideNamesMoveNoColumn)
{
	cli::top_settings settings;
	cli::cgroup_names cgroups;

	settings.columns = {{"reads", 1, "", false}};

	const auto shown = cli::show_table(
		table_of({"\u6f22\u5b57", "ascii"}), settings, cgroups, 0);
	const auto &wide = shown[shown.size() - 2];
	const auto &plain = shown[shown.size() - 1];

	EXPECT_EQ(cli::width(wide.substr(0, wide.find("\u6f22"))),
		  cli::width(plain.substr(0, plain.find("ascii"))));
}

TEST(TopCsv, ALineForEachNumber)
{
	cli::top_settings settings;
	cli::cgroup_names cgroups;

	settings.columns = {{"reads", 64, "Bytes", false}};

	std::istringstream text(cli::csv_titles() +
				cli::csv_table(table_of({"a,b"}), settings,
					       cgroups, 1.5));
	std::string line;
	lines rows;

	while (std::getline(text, line))
		rows.push_back(line);
	ASSERT_EQ(rows.size(), 5u); // titles, total, idle, other, the task
	EXPECT_EQ(rows[1], "1.500000,total,,,,,0,0,reads,64000,Bytes,1000");
	EXPECT_TRUE(rows[4].starts_with("1.500000,task,1,1,\"a,b\","))
		<< rows[4];
	EXPECT_TRUE(rows[4].ends_with(",0,0,reads,64000,Bytes,1000"))
		<< rows[4];
}

} // namespace
