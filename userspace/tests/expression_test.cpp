// SPDX-License-Identifier: LGPL-2.1-or-later
// Test metric expressions: their values, the names in them, and invalid expressions.
#include <gtest/gtest.h>

#include <cmath>

#include <uncore/catalogue.hpp>

#include "expression.hpp"

using namespace uncore;

namespace {

double value(std::string_view text)
{
	const auto parsed = expression::parse(text);

	if (!parsed) {
		ADD_FAILURE() << parsed.error().message;
		return std::nan("");
	}
	EXPECT_TRUE(parsed->terms().empty()) << text;
	return parsed->evaluate({});
}

std::string wrong(std::string_view text)
{
	const auto parsed = expression::parse(text);

	if (parsed)
		return "is accepted";
	EXPECT_EQ(parsed.error().code, errc::invalid);
	return parsed.error().message;
}

std::string repeat(std::string_view text, size_t times)
{
	std::string repeated;

	while (times--)
		repeated += text;
	return repeated;
}

} // namespace

TEST(expression, numbers)
{
	EXPECT_EQ(value("64"), 64);
	EXPECT_EQ(value("0.5"), 0.5);
	EXPECT_EQ(value(".5"), 0.5);
	EXPECT_EQ(value("5."), 5);
	EXPECT_EQ(value("1e9"), 1e9);
	EXPECT_EQ(value("6.103515625e-5"), 6.103515625e-5);
	EXPECT_EQ(value(" 1073741824 "), 1073741824);
	EXPECT_EQ(value("1e-3-1e-3"), 0);
}

TEST(expression, operators)
{
	EXPECT_EQ(value("1 + 2 * 3"), 7);
	EXPECT_EQ(value("(1 + 2) * 3"), 9);
	EXPECT_EQ(value("8 - 2 - 1"), 5);
	EXPECT_EQ(value("8 / 2 / 2"), 2);
	EXPECT_EQ(value("1 - -1"), 2);
	EXPECT_EQ(value("--2"), 2);
	EXPECT_EQ(value("-2 * -3"), 6);
	EXPECT_EQ(value("7 % 4"), 3);
	EXPECT_EQ(value("7 % 4 * 2"), 6);
	EXPECT_EQ(value("12 & 10"), 8);
	EXPECT_EQ(value("12 | 10"), 14);
	EXPECT_EQ(value("12 ^ 10"), 6);
	EXPECT_EQ(value("1 | 6 & 3"), 3);
	EXPECT_EQ(value("1 | 4 ^ 5 & 4"), 1);
	EXPECT_EQ(value("2 + 1 < 3"), 0);
	EXPECT_EQ(value("3 > 2"), 1);
	EXPECT_EQ(value("3 <= 3"), 1);
	EXPECT_EQ(value("2 >= 3"), 0);
	EXPECT_EQ(value("1 == 1"), 1);
	EXPECT_EQ(value("1 != 1"), 0);
}

TEST(expression, functions)
{
	EXPECT_EQ(value("min(3, 1 + 1)"), 2);
	EXPECT_EQ(value("max(3, 2)"), 3);
	EXPECT_EQ(value("max(min(1, 2), -min(3, 4))"), 1);
	EXPECT_EQ(value("d_ratio(6, 4)"), 1.5);
	EXPECT_EQ(value("d_ratio(6, 0)"), 0);
	EXPECT_TRUE(std::isnan(value("min(1, 1 / 0)")));
	EXPECT_TRUE(std::isnan(value("max(1 / 0, 1)")));
}

TEST(expression, choices)
{
	EXPECT_EQ(value("1 if 2 > 1 else 3"), 1);
	EXPECT_EQ(value("1 if 2 < 1 else 3"), 3);
	EXPECT_EQ(value("1 if 0 else 2 if 0 else 3"), 3);
	EXPECT_EQ(value("1 + 1 if 1 else 5"), 2);
	EXPECT_EQ(value("min(3, 1, 2) + max(3, 5, 4)"), 6);
	EXPECT_EQ(value("2 * (1 if 0 else 4)"), 8);
	// The value that is not chosen is ignored.
	EXPECT_EQ(value("1 if 1 else 1 / 0"), 1);
	EXPECT_TRUE(std::isnan(value("1 if 1 / 0 else 2")));
}

TEST(expression, not_a_number)
{
	for (const char *text :
	     {"1 / 0", "0 / 0", "1 % 0", "1 + 1 / 0", "1e300 & 1", "-(1 / 0)",
	      "1 / 0 < 2", "1 % (1 / 0)"})
		EXPECT_TRUE(std::isnan(value(text))) << text;
}

TEST(expression, terms)
{
	const auto parsed = expression::parse(
		R"(cbox@tor_inserts.opcode\,filter_opc\=0x182@ * 64 / )"
		R"(duration_time + cbox@clockticks@ / )"
		R"(source_count(cbox@clockticks@) + duration_time)");

	ASSERT_TRUE(parsed) << parsed.error().message;

	const auto terms = parsed->terms();

	ASSERT_EQ(terms.size(), 3u);
	EXPECT_EQ(terms[0].name, "cbox/tor_inserts.opcode,filter_opc=0x182/");
	EXPECT_TRUE(terms[0].is_event);
	EXPECT_TRUE(terms[0].wants_value);
	EXPECT_FALSE(terms[0].wants_sources);
	EXPECT_EQ(terms[1].name, "duration_time");
	EXPECT_FALSE(terms[1].is_event);
	EXPECT_EQ(terms[2].name, "cbox/clockticks/");
	EXPECT_TRUE(terms[2].wants_value);
	EXPECT_TRUE(terms[2].wants_sources);

	const double values[] = {30, 2, 360};
	const double sources[] = {18, 1, 36};

	EXPECT_EQ(parsed->evaluate(values, sources), 30 * 64 / 2 + 10 + 2);
	EXPECT_TRUE(std::isnan(parsed->evaluate({})));
}

TEST(expression, events_with_slashes)
{
	const auto events = [](const char *text) {
		const auto parsed = expression::parse(text);
		std::string names;

		if (!parsed)
			return parsed.error().message;
		for (const expression::term &term : parsed->terms())
			names += (term.is_event ? "[" : "(") + term.name +
				 (term.is_event ? "]" : ")");
		return names;
	};

	EXPECT_EQ(events("imc/cas_count.rd/ * 64 / duration_time"),
		  "[imc/cas_count.rd/](duration_time)");
	EXPECT_EQ(events("64*imc/a//imc_0/b,edge=1/"),
		  "[imc/a/][imc_0/b,edge=1/]");
	EXPECT_EQ(events(R"(1/cbox/a,filter_state\=i+s/)"),
		  "[cbox/a,filter_state=i+s/]");
	EXPECT_EQ(events("min(imc/a/, source_count(imc/a/))"), "[imc/a/]");
	EXPECT_EQ(events("imc/a/ if imc/b/ else imc/c/"),
		  "[imc/a/][imc/b/][imc/c/]");
	EXPECT_EQ(events("-(imc/a/)"), "[imc/a/]");
	// Divisions.
	EXPECT_EQ(events("a/b/c"), "(a)(b)(c)");
	EXPECT_EQ(events("a/b/ 2"), "(a)(b)");
	EXPECT_EQ(events("a / b / c"), "(a)(b)(c)");
	EXPECT_EQ(events("a/b/(c)"), "(a)(b)(c)");
	EXPECT_EQ(events("a/2"), "(a)");
	EXPECT_EQ(events("max(a/2,b/3)"), "(a)(b)");
	EXPECT_EQ(events("a/imc@b@"), "(a)[imc/b/]");
	EXPECT_EQ(events("a/imc/b/"), "(a)[imc/b/]");
}

TEST(expression, names_of_perf)
{
	for (const char *name :
	     {"INST_RETIRED.ANY", "CPU_CLK_UNHALTED.THREAD:k", "L1D.REPL",
	      "cpu_core@event@", "#num_packages", "ifs", "elsewhere", "minute",
	      "2LM"}) {
		const auto parsed = expression::parse(name);

		ASSERT_TRUE(parsed) << parsed.error().message;
		ASSERT_EQ(parsed->terms().size(), 1u) << name;

		const double seven = 7;

		EXPECT_EQ(parsed->evaluate({&seven, 1}), 7) << name;
	}

	const auto dash = expression::parse(R"(cpu\-cycles - 1)");

	ASSERT_TRUE(dash);
	EXPECT_EQ(dash->terms()[0].name, "cpu-cycles");
}

TEST(expression, every_metric_of_the_catalogue)
{
	size_t parsed = 0;

	for (const metric_info &metric : catalogue::standard().metrics()) {
		const auto formula = expression::parse(metric.expression);

		ASSERT_TRUE(formula) << formula.error().message;

		const std::vector<double> ones(formula->terms().size(), 1);

		EXPECT_FALSE(formula->terms().empty()) << metric.name;

		// A division by 0 is not a number, never infinite.
		const double result = formula->evaluate(ones, ones);

		EXPECT_FALSE(std::isinf(result)) << metric.name;
		parsed++;
	}
	EXPECT_EQ(parsed, catalogue::standard().metrics().size());
	EXPECT_GT(parsed, 100u);
}

TEST(expression, a_metrics_value)
{
	const metric_info *speed = catalogue::standard().metric("qpi_speed");

	ASSERT_TRUE(speed);

	const auto formula = expression::parse(speed->expression);

	ASSERT_TRUE(formula);
	ASSERT_EQ(formula->terms().size(), 2u);
	EXPECT_EQ(formula->terms()[0].name, "qpi/clockticks/");

	// 6 ports for half a second at 2.4 GHz: 9.6 GT/s
	const double values[] = {6 * 1.2e9, 0.5}, sources[] = {6, 1};

	EXPECT_DOUBLE_EQ(formula->evaluate(values, sources), 9.6);
}

TEST(expression, malformed)
{
	EXPECT_EQ(wrong("1 +"),
		  "a value is missing at column 4 of the expression '1 +'");
	EXPECT_EQ(wrong("(1"), "a ) is missing at column 3 of the expression "
			       "'(1'");
	EXPECT_EQ(wrong("1 2"), "an operator is missing at column 3 of the "
				"expression '1 2'");
	EXPECT_EQ(wrong("sqrt(4)"), "there is no function 'sqrt' at column 5 "
				    "of the expression 'sqrt(4)'");

	static constexpr const char *malformed[] = {
		"", " ", "+", "*1", "1**2", ")", "()", "1)", "min(1)", "min(1,",
		"min(1 2)", "d_ratio(,)", "1 if 2", "if", "1 if else 2",
		"1 else 2", "imc@dclk", "source_count()", "source_count(1+1)",
		"source_count(a", "1,2", "a b", "1 = 1", "1 ! 2", "\xff",
		"1e999", "@", "a@b@@", "$"};

	for (const char *text : malformed)
		EXPECT_NE(wrong(text), "is accepted") << text;
}

TEST(expression, nothing_makes_it_run_away)
{
	EXPECT_EQ(value(repeat("1+", 30000) + "1"), 30001);
	EXPECT_EQ(value(repeat("(", 90) + "1" + repeat(")", 90)), 1);
	EXPECT_NE(wrong(repeat("(", 30000)), "is accepted");
	EXPECT_NE(wrong(repeat("-", 60000) + "1"), "is accepted");
	EXPECT_NE(wrong(repeat("min(1,", 10000)), "is accepted");
	EXPECT_NE(wrong(repeat("1 if 1 else ", 5000) + "1"), "is accepted");
	EXPECT_NE(wrong(repeat("1", 70000)), "is accepted");

	std::string names = "a0";

	for (int i = 1; i < 5000; i++)
		names += "+a" + std::to_string(i);
	EXPECT_NE(wrong(names), "is accepted");
}
