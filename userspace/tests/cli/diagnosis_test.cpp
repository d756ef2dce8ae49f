// SPDX-License-Identifier: GPL-2.0-or-later
// The rules of uncore diagnose, the order of findings, and their output.
#include "diagnosis/report.hpp"
#include "diagnosis/rules.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <uncore/catalogue.hpp>

namespace {

using cli::assessment;
using cli::readings;
using cli::rule;
using cli::rule_set;

/// A rule of a share that is reported from 30 % on and limits from 60 % on.
rule share_rule(const std::string &finding, const std::string &metric)
{
	rule made;

	made.finding = finding;
	made.metrics = {metric};
	made.from = 30;
	made.full = 60;
	made.seen = "{value} of the time";
	made.look = "uncore metric memory";
	made.helps = "Less of it.";
	made.source = "A guess.";
	return made;
}

void add(readings &numbers, const char *metric, int socket, double value,
	 double error = 0, const char *pmu = "", const char *unit = "%")
{
	numbers.add(metric, {socket, pmu, {value, error, 0.25, unit}});
}

std::vector<std::string> findings_of(const std::vector<assessment> &all)
{
	std::vector<std::string> names;

	for (const assessment &entry : all)
		if (entry.is_finding())
			names.push_back(entry.rule->finding);
	return names;
}

TEST(diagnosis, rules_have_metrics_of_a_generation)
{
	std::set<std::string_view> known;
	std::set<std::string> unused, all;

	for (const std::string_view name : uncore::catalogue::generations()) {
		const auto *catalogue = uncore::catalogue::find(name);
		const rule_set rules = rule_set::of(*catalogue);

		for (const auto &info : catalogue->metrics())
			known.insert(info.name);
		EXPECT_GE(rules.rules.size(), 2u) << name;
		for (const rule &entry : rules.rules) {
			unused.erase(entry.finding);
			all.insert(entry.finding);
		}
		for (const auto &entry : rules.absent)
			if (!all.contains(entry.finding))
				unused.insert(entry.finding);
	}
	// uncore serve alone knows the capacity of PCIe.
	EXPECT_EQ(unused, std::set<std::string>{"PCIe"});
	for (const std::string_view name : uncore::catalogue::generations())
		for (const rule &entry :
		     rule_set::of(*uncore::catalogue::find(name)).rules) {
			for (const std::string &metric : entry.metrics)
				EXPECT_TRUE(known.contains(metric)) << metric;
			for (const std::string &metric : entry.numbers)
				EXPECT_TRUE(known.contains(metric)) << metric;
			EXPECT_GT(entry.notable(), 0) << entry.finding;
			EXPECT_LT(entry.notable(), 1) << entry.finding;
			EXPECT_EQ(entry.traffic.empty(), entry.least == 0);
			for (const std::string *text :
			     {&entry.finding, &entry.seen, &entry.look,
			      &entry.helps, &entry.source}) {
				EXPECT_FALSE(text->empty()) << entry.finding;
				EXPECT_EQ(text->find("{box}"), text->npos);
				EXPECT_EQ(text->find("{title}"), text->npos);
			}
		}
}

TEST(diagnosis, rules_are_of_box_types_with_the_role)
{
	const auto has = [](const char *generation, const std::string &metric) {
		const rule_set set =
			rule_set::of(*uncore::catalogue::find(generation));

		return std::any_of(set.rules.begin(), set.rules.end(),
				   [&metric](const rule &entry) {
					   return entry.metrics.front() ==
						  metric;
				   });
	};
	const auto reason = [](const char *generation, const char *finding) {
		for (const auto &entry :
		     rule_set::of(*uncore::catalogue::find(generation)).absent)
			if (entry.finding == finding)
				return entry.reason;
		return std::string("-");
	};

	EXPECT_TRUE(has("hswep", "qpi_tx_util"));
	EXPECT_TRUE(has("skx", "upi_tx_util"));
	EXPECT_FALSE(has("skx", "qpi_tx_util"));
	EXPECT_TRUE(has("xeon7100", "fsb_utilisation"));
	EXPECT_EQ(reason("hswep", "link bandwidth"), "-");
	EXPECT_EQ(reason("skx", "link bandwidth"), "-");
	EXPECT_NE(reason("bdwde", "link bandwidth").find("_util"),
		  std::string::npos);
	EXPECT_NE(reason("snbep", "remote memory")
			  .find("has no metric llc_drd_miss_to_rem_mem"),
		  std::string::npos);
}

TEST(diagnosis, a_rate_is_compared_with_the_measured_peak_of_its_socket)
{
	readings numbers;
	rule measured = share_rule("memory", "rate");

	measured.peaks = {{0, 40 * 0x1p30}, {1, 10 * 0x1p30}};
	add(numbers, "rate", 0, 10, 1, "", "GiB/s");
	add(numbers, "rate", 1, 8, 1, "", "GiB/s");

	const std::vector rules = {measured};
	const auto all = assess(rules, numbers);

	ASSERT_EQ(all.size(), 1u);
	ASSERT_EQ(all[0].places.size(), 2u);
	EXPECT_EQ(all[0].places[0].socket, 1);
	EXPECT_DOUBLE_EQ(all[0].places[0].number.value, 80);
	EXPECT_DOUBLE_EQ(all[0].places[0].number.error, 10);
	EXPECT_EQ(all[0].places[0].number.unit, "%");
	EXPECT_DOUBLE_EQ(all[0].places[1].number.value, 25);
	EXPECT_TRUE(all[0].limits());
}

TEST(diagnosis, rules_go_with_metrics_that_the_machine_lacks)
{
	rule_set set;

	set.rules = {share_rule("one", "a"), share_rule("two", "a")};
	set.rules[1].metrics.push_back("b");
	set.remove("a", "no PMU");
	ASSERT_EQ(set.rules.size(), 1u);
	EXPECT_EQ(set.rules[0].metrics, std::vector<std::string>{"b"});
	ASSERT_EQ(set.absent.size(), 1u);
	EXPECT_EQ(set.absent[0].reason, "a: no PMU");
	set.rules[0].traffic = {"c"};
	set.remove("c", "no PMU");
	EXPECT_TRUE(set.rules.empty());
}

TEST(diagnosis, findings_are_in_the_order_of_importance)
{
	const std::vector<rule> rules = {
		share_rule("small", "a"), share_rule("large", "b"),
		share_rule("none", "c"), share_rule("unknown", "d")};
	readings numbers;

	add(numbers, "a", 0, 31);
	add(numbers, "a", 1, 20);
	add(numbers, "b", 0, 10);
	add(numbers, "b", 1, 66, 1);
	add(numbers, "c", 0, 29.9);
	add(numbers, "d", 0, std::nan(""));

	const auto all = cli::assess(rules, numbers);

	ASSERT_EQ(all.size(), 3u);
	EXPECT_EQ(findings_of(all),
		  (std::vector<std::string>{"large", "small"}));
	EXPECT_DOUBLE_EQ(all[0].importance, 1.1);
	EXPECT_TRUE(all[0].limits());
	EXPECT_FALSE(all[1].limits());
	EXPECT_EQ(all[0].places.front().socket, 1);
	EXPECT_EQ(all[0].seen(), "66.00 % of the time");
	EXPECT_FALSE(all[2].is_finding());
}

TEST(diagnosis, findings_are_sure_or_not)
{
	const std::vector<rule> rules = {share_rule("share", "a")};
	const auto sure = [&rules](double value, double error) {
		readings numbers;

		add(numbers, "a", 0, value, error);
		return cli::assess(rules, numbers).front().is_sure();
	};

	EXPECT_TRUE(sure(32, 1));
	EXPECT_FALSE(sure(31.9, 1));
	EXPECT_FALSE(sure(60, 16));
	EXPECT_FALSE(sure(60, std::nan("")));
}

TEST(diagnosis, doubtful_findings_are_less_important)
{
	const std::vector<rule> rules = {share_rule("doubtful", "a"),
					 share_rule("sure", "b"),
					 share_rule("unknown", "c")};
	readings numbers;

	add(numbers, "a", 0, 60, 12);
	add(numbers, "b", 0, 54, 1);
	add(numbers, "c", 0, 90, std::nan(""));
	EXPECT_EQ(findings_of(cli::assess(rules, numbers)),
		  (std::vector<std::string>{"sure", "doubtful", "unknown"}));
}

TEST(diagnosis, little_traffic_is_less_important)
{
	std::vector<rule> rules = {share_rule("share", "a")};
	readings numbers;

	rules[0].traffic = {"in", "out"};
	rules[0].least = 4;
	add(numbers, "a", 0, 90);
	add(numbers, "in", 0, 0.5);
	add(numbers, "out", 0, 1.5);
	EXPECT_DOUBLE_EQ(cli::assess(rules, numbers)[0].importance, 0.75);
	add(numbers, "a", 1, 60);
	add(numbers, "in", 1, 5);
	add(numbers, "out", 1, 5);
	EXPECT_DOUBLE_EQ(cli::assess(rules, numbers)[0].importance, 1);
	EXPECT_EQ(cli::assess(rules, numbers)[0].places[0].socket, 1);
	// The traffic of this socket is not known.
	add(numbers, "a", 2, 90);
	EXPECT_EQ(cli::assess(rules, numbers)[0].places.size(), 2u);
}

TEST(diagnosis, rules_without_a_value_are_not_judged)
{
	std::vector<rule> rules = {share_rule("judged", "a"), share_rule("untimely", "b"),
				   share_rule("idle", "c"), share_rule("part", "d")};
	readings numbers;

	rules[3].divisor = "b";
	add(numbers, "a", 0, 5);
	numbers.add("b", {0, "", {std::nan(""), std::nan(""), 0, "%"}});
	numbers.add("c", {0, "", {std::nan(""), std::nan(""), 0.5, "%"}});
	add(numbers, "d", 0, 5);

	const auto left = cli::not_judged(rules, numbers);

	ASSERT_EQ(left.size(), 3u);
	EXPECT_EQ(left[0].finding, "untimely");
	EXPECT_EQ(left[0].reason, "its events had no time on the counters");
	EXPECT_TRUE(left[0].lacks_time);
	EXPECT_EQ(left[1].finding, "idle");
	EXPECT_EQ(left[1].reason, "there was no traffic to judge");
	EXPECT_FALSE(left[1].lacks_time);
	EXPECT_EQ(left[2].finding, "part");
	EXPECT_TRUE(left[2].lacks_time);
	// Another socket has counted.
	numbers.add("b", {1, "", {50, 1, 0.5, "%"}});
	EXPECT_EQ(cli::not_judged(rules, numbers).size(), 2u);
}

TEST(diagnosis, small_values_can_be_the_problem)
{
	std::vector<rule> rules = {share_rule("hits", "a")};
	readings numbers;

	rules[0].good = 100;
	rules[0].from = 90;
	rules[0].full = 75;
	add(numbers, "a", 0, 95);
	EXPECT_FALSE(cli::assess(rules, numbers)[0].is_finding());
	add(numbers, "a", 1, 70, 1);
	EXPECT_DOUBLE_EQ(cli::assess(rules, numbers)[0].importance, 1.2);
	EXPECT_DOUBLE_EQ(cli::assess(rules, numbers)[0].error, 0.04);
	// A value that is better than good is not less than no importance.
	readings best;

	add(best, "a", 0, 101);
	EXPECT_EQ(cli::assess(rules, best)[0].importance, 0);
}

TEST(diagnosis, the_larger_metric_counts)
{
	std::vector<rule> rules = {share_rule("held back", "heat")};
	readings numbers;

	rules[0].metrics.push_back("power");
	add(numbers, "heat", 0, 10);
	add(numbers, "power", 0, 40);
	add(numbers, "heat", 1, 50);
	add(numbers, "power", 1, 2);

	const auto all = cli::assess(rules, numbers);

	ASSERT_EQ(all[0].places.size(), 2u);
	EXPECT_EQ(all[0].places[0].socket, 1);
	EXPECT_EQ(all[0].places[0].number.value, 50);
	EXPECT_EQ(all[0].places[1].number.value, 40);
}

TEST(diagnosis, a_metric_is_divided_by_another)
{
	std::vector<rule> rules = {share_rule("parts", "part")};
	readings numbers;

	rules[0].divisor = "whole";
	add(numbers, "part", 0, 30, 3, "", "");
	add(numbers, "whole", 0, 60, 0, "", "");
	add(numbers, "part", 1, 30, 3, "", "");
	add(numbers, "whole", 1, 0, 0, "", "");

	const auto all = cli::assess(rules, numbers);

	ASSERT_EQ(all[0].places.size(), 1u);
	EXPECT_DOUBLE_EQ(all[0].places[0].number.value, 50);
	EXPECT_DOUBLE_EQ(all[0].places[0].number.error, 5);
	EXPECT_EQ(all[0].places[0].number.unit, "%");
}

TEST(diagnosis, one_box_has_more_than_the_others)
{
	std::vector<rule> rules = {share_rule("channel", "a")};
	const auto fullest = [&rules](std::vector<double> values) {
		readings numbers;

		for (size_t i = 0; i < values.size(); i++)
			add(numbers, "a", 0, values[i], 0,
			    ("imc_" + std::to_string(i)).c_str());
		add(numbers, "a", 0, 100);	   // the socket
		add(numbers, "a", 1, 5, 0, "imc_0"); // of another socket

		const auto all = cli::assess(rules, numbers);

		return all[0].is_finding() ? all[0].places[0].pmu : "-";
	};

	rules[0].each = rule::comparison::boxes;
	rules[0].times = 1.5;
	EXPECT_EQ(fullest({20, 20, 70, 20}), "imc_2");
	EXPECT_EQ(fullest({60, 65, 70, 60}), "-");
	EXPECT_EQ(fullest({2, 2, 20, 2}), "-"); // is not full
	// The others have no modules: the only channel is the socket's memory.
	EXPECT_EQ(fullest({0, 0, 70, 0}), "-");
	EXPECT_EQ(fullest({0, 10, 70, 0}), "imc_2");
}

TEST(diagnosis, one_socket_has_more_than_the_others)
{
	std::vector<rule> rules = {share_rule("socket", "a")};
	readings numbers, alone;

	rules[0].each = rule::comparison::sockets;
	rules[0].times = 1.5;
	add(numbers, "a", 0, 10);
	add(numbers, "a", 1, 45);
	EXPECT_EQ(findings_of(cli::assess(rules, numbers)).size(), 1u);
	EXPECT_EQ(cli::assess(rules, numbers)[0].places[0].socket, 1);
	add(alone, "a", 0, 45);
	EXPECT_TRUE(findings_of(cli::assess(rules, alone)).empty());
}

/// A diagnosis with a finding that limits, and a rule without a finding.
struct example {
	example()
	{
		rules[0].numbers = {"reads", "missing"};
		add(result.numbers, "a", 0, 72.5, 0.5);
		add(result.numbers, "a", 1, 20);
		add(result.numbers, "b", 0, 5);
		add(result.numbers, "reads", 0, 2, 0, "", "GiB/s");
		add(result.numbers, "reads", 1, 3, 0, "", "GiB/s");
		result.assessments = cli::assess(rules, result.numbers);
	}

	std::vector<rule> rules = {share_rule("memory", "a"),
				   share_rule("links", "b")};
	cli::diagnosis result{.seconds = 2.04,
			      .rounds = 3,
			      .groups = {"memory", "llc"},
			      .absent = {{"bus", "no metric"}},
			      .not_judged = {{"hits", "no traffic"}}};
};

TEST(diagnosis, text_has_a_paragraph_for_each_finding)
{
	example shown;

	EXPECT_EQ(
		text_of(shown.result, false, 0, nullptr),
		"Counted 2.0 s, 3 rounds of memory, llc\n"
		"\n"
		"1. memory limits: 72.50 % of the time\n"
		"   values  socket 0: 72.50 % \u00b10.50 %, socket 1: 20.00 % \u00b10.00 %\n"
		"   numbers reads 2.000 GiB/s and 3.000 GiB/s\n"
		"   sure    yes, two errors from the threshold or more; counted for 25.0 % of the time; reported from 30.00 % on, limits from 60.00 % on\n"
		"   look    uncore metric memory\n"
		"   helps   Less of it.\n");

	const std::string verbose = text_of(shown.result, true, 0, nullptr);

	EXPECT_NE(verbose.find("\nNo finding:\n   links "), verbose.npos)
		<< verbose;
	EXPECT_NE(verbose.find("5.00 %, reported from 30.00 % on (A guess.)"),
		  verbose.npos)
		<< verbose;
	EXPECT_NE(verbose.find("\nNot judged:\n   hits "), verbose.npos)
		<< verbose;
	EXPECT_NE(verbose.find("\nLeft out:\n   bus "), verbose.npos)
		<< verbose;
}

TEST(diagnosis, text_names_rules_without_time_on_the_counters)
{
	example shown;

	shown.result.not_judged.push_back({"misses", "no time", true});
	shown.result.not_judged.push_back({"snoops", "no time", true});

	const std::string text = text_of(shown.result, false, 0, nullptr);
	const std::string line =
		"\nNot judged, because the events had no time on the counters: misses, "
		"snoops; count for longer (-d)\n";

	EXPECT_TRUE(text.ends_with(line)) << text;
}

TEST(diagnosis, text_says_what_was_looked_at)
{
	example shown;

	shown.result.assessments.erase(shown.result.assessments.begin());
	EXPECT_EQ(text_of(shown.result, false, 0, nullptr),
		  "Counted 2.0 s, 3 rounds of memory, llc\n"
		  "\n"
		  "Nothing stands out; looked at links 5.00 %\n");
}

TEST(diagnosis, text_fits_a_terminal)
{
	example shown;
	std::string line;

	for (const char letter : text_of(shown.result, true, 60, nullptr)) {
		line += letter;
		if (letter != '\n')
			continue;
		EXPECT_LE(line.size(), 64u) << line; // ± has two bytes
		line.clear();
	}
}

TEST(diagnosis, at_most_ten_findings)
{
	std::vector<rule> rules;
	cli::diagnosis result;

	for (int i = 0; i < 12; i++) {
		const std::string name = "m" + std::to_string(i);

		rules.push_back(share_rule(name, name));
		add(result.numbers, name.c_str(), 0, 40 + i);
	}
	result.assessments = cli::assess(rules, result.numbers);
	ASSERT_EQ(result.findings().size(), cli::most_findings);
	EXPECT_EQ(result.findings().front()->rule->finding, "m11");
}

TEST(diagnosis, csv_has_a_row_for_each_place)
{
	example shown;

	EXPECT_EQ(
		csv_of(shown.result),
		"rank,finding,importance,limits,sure,socket,pmu,value,unit,error,running\n"
		"1,memory,1.2083333333333333,1,1,0,,72.5,%,0.5,0.25\n"
		"1,memory,1.2083333333333333,1,1,1,,20,%,0,0.25\n");
}

TEST(diagnosis, json_has_all)
{
	example shown;
	const auto document = json_of(shown.result);
	const auto &finding = document["findings"][0];

	ASSERT_EQ(document["findings"].size(), 1u);
	EXPECT_EQ(finding["finding"], "memory");
	EXPECT_EQ(finding["limits"], true);
	EXPECT_EQ(finding["sure"], true);
	EXPECT_EQ(finding["values"][1]["value"], 20);
	EXPECT_EQ(finding["numbers"][1]["metric"], "reads");
	EXPECT_EQ(finding["numbers"][1]["value"], 3);
	EXPECT_EQ(document["no_finding"][0]["finding"], "links");
	EXPECT_EQ(document["not_judged"][0]["reason"], "no traffic");
	EXPECT_EQ(document["left_out"][0]["reason"], "no metric");
}

} // namespace
