// SPDX-License-Identifier: GPL-2.0-or-later
// Test metric files: their form, the order of folders, and lines for mistakes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include <sys/stat.h>

#include "counting/metric_files.hpp"
#include "text.hpp"
#include "tree.hpp"

using namespace cli;

namespace {

class metric_file : public testing::Test {
protected:
	metric_file() : recorded_("hswep"), machine_(recorded_.topology())
	{
		char name[] = "/tmp/metric-files-XXXXXX";

		home_ = mkdtemp(name);
		folder_ = home_ / "uncore/metrics.d";
		std::filesystem::create_directories(folder_);
		setenv("XDG_CONFIG_HOME", home_.c_str(), 1);
	}
	~metric_file() override
	{
		unsetenv("XDG_CONFIG_HOME");
		std::filesystem::remove_all(home_);
	}

	void write(const char *name, const std::string &text)
	{
		std::ofstream(folder_ / name) << text;
	}

	/// The lines for a file with this text, without the path.
	std::string problems(const std::string &text)
	{
		std::string lines;

		write("a.json", text);
		for (const std::string &line :
		     metric_files(machine_).problems()) {
			const std::string path = folder_ / "a.json: ";

			EXPECT_TRUE(line.starts_with(path)) << line;
			EXPECT_EQ(line, uncore::one_line(line));
			lines += (lines.empty() ? "" : "\n") +
				 line.substr(path.size());
		}
		return lines;
	}

	tree recorded_;
	uncore::topology machine_;
	std::filesystem::path home_, folder_;
};

} // namespace

TEST_F(metric_file, has_the_catalogues_form)
{
	write("a.json", R"([
		{"MetricName": "all", "MetricExpr": ["imc/cas_count.rd/ *", "64"],
		 "ScaleUnit": "1e-6MB/s", "MetricGroup": "mine; memory",
		 "BriefDescription": "Reads", "Note": "A note", "Range": "-5..2.5",
		 "Weight": "imc/cas_count.rd/", "Box": "imc", "Section": "none",
		 "MetricConstraint": "NO_GROUP_EVENTS"},
		{"MetricName": "part", "MetricExpr": "imc/dclk/", "ScaleUnit": "100%"},
		{"MetricName": "plain", "MetricExpr": "2 * part"}])");

	const metric_files files(machine_);
	const uncore::own_metrics &metrics = files.metrics();

	EXPECT_TRUE(files.problems().empty());
	ASSERT_EQ(metrics.size(), 3u);
	EXPECT_EQ(files.file(0), folder_ / "a.json");

	const uncore::metric_info &info = **metrics.metric(0);

	EXPECT_EQ(info.name, "all");
	EXPECT_EQ(info.expression, "imc/cas_count.rd/ * 64");
	EXPECT_EQ(info.box, "imc");
	EXPECT_EQ(info.scale, 1e-6);
	EXPECT_EQ(info.unit, "MB/s");
	EXPECT_EQ(info.description, "Reads");
	EXPECT_EQ(info.note, "A note");
	EXPECT_EQ(info.low, -5);
	EXPECT_EQ(info.high, 2.5);
	EXPECT_EQ(info.weight, "imc/cas_count.rd/");
	ASSERT_EQ(info.groups.size(), 2u);
	EXPECT_EQ(info.groups[1], "memory");
	EXPECT_EQ((*metrics.metric(1))->high, 100);
	EXPECT_EQ((*metrics.metric(2))->low, 0);
	EXPECT_TRUE(std::isinf((*metrics.metric(2))->high));
	EXPECT_EQ((*metrics.metric(2))->expression, "2 * (imc/dclk/)");
}

TEST_F(metric_file, the_command_line_comes_first)
{
	write("a.json", R"([{"MetricName": "x", "MetricExpr": "1 +"},
			    {"MetricName": "y", "MetricExpr": "x"}])");

	const auto written = metric_files::parse("X = imc/dclk/");

	ASSERT_TRUE(written);

	const metric_files files(machine_, {*written});

	EXPECT_TRUE(files.problems().empty());
	ASSERT_EQ(files.metrics().size(), 2u);
	EXPECT_EQ(files.file(0), "");
	EXPECT_EQ((*files.metrics().find("y"))[0]->expression, "(imc/dclk/)");
}

TEST_F(metric_file, expressions_of_the_command_line)
{
	const auto metric = metric_files::parse(" read_bw =imc/a,b=1/ == 2 ");

	ASSERT_TRUE(metric);
	EXPECT_EQ(metric->name, "read_bw");
	EXPECT_EQ(metric->expression, "imc/a,b=1/ == 2");
	for (const char *text :
	     {"", "imc/a/", "imc/a,b=1/", "a == 2", "a b = 1"})
		EXPECT_EQ(metric_files::parse(text).error().message,
			  uncore::quote(text) +
				  " has no name: write NAME = EXPRESSION");
}

TEST_F(metric_file, mistakes)
{
	EXPECT_EQ(problems("[{}]"), "metric number 1: MetricExpr is missing");
	EXPECT_EQ(problems("[7]"),
		  "metric number 1: it is not an object: write it in braces");
	EXPECT_EQ(problems("{}"),
		  "it is not an array of metrics: write them in brackets");
	EXPECT_TRUE(problems("[{\n").starts_with(
		"it is not JSON: parse error at line 2, column 1:"));
	EXPECT_TRUE(problems("").starts_with("it is not JSON: parse error"));
	EXPECT_TRUE(problems("[\"\xff\"]").starts_with("it is not JSON: "));

	const auto with = [this](const std::string &members) {
		return problems(
			R"([{"MetricName": "m", "MetricExpr": "imc/dclk/", )" +
			members + "}]");
	};

	EXPECT_EQ(
		with(R"("ScaleUnits": "1")"),
		"metric m: there is no key 'ScaleUnits': did you mean ScaleUnit?");
	EXPECT_EQ(
		with(R"("ScaleUnit": "MB/s")"),
		"metric m: ScaleUnit 'MB/s' is not a factor and a unit, such as 1e-6MB/s");
	EXPECT_EQ(
		with(R"("ScaleUnit": 1)"),
		"metric m: the value of 'ScaleUnit' is not a text: put it into quotes");
	EXPECT_EQ(
		with(R"("Range": "1..1")"),
		"metric m: Range '1..1' is not the lowest and the highest value, such as 0..100 or 0..");
	EXPECT_EQ(with(R"("Note": "a\u001b[31m")"),
		  "metric m: 'Note' has a control character");
	EXPECT_EQ(
		problems(
			R"([{"MetricName": "m", "MetricExpr": "imc/dclk/ / 0"}])"),
		"metric m: it always divides by 0: write another divisor");

	// The rest of the file works.
	EXPECT_EQ(
		problems(R"([{"MetricName": "m", "MetricExpr": "1 +"},
			       {"MetricName": "n", "MetricExpr": "imc/dclk/"}])"),
		"metric m: a value is missing at column 4 of the expression '1 +'");
	EXPECT_TRUE(metric_files(machine_).metrics().find("n"));

	EXPECT_TRUE(problems(std::string(2 << 20, ' '))
			    .starts_with("it has more than 1048576 bytes"));
	std::filesystem::remove(folder_ / "a.json");
	ASSERT_EQ(mkfifo((folder_ / "a.json").c_str(), 0600), 0);
	EXPECT_EQ(metric_files(machine_).problems(),
		  std::vector<std::string>{(folder_ / "a.json").string() +
					   ": it is not a regular file"});
}
