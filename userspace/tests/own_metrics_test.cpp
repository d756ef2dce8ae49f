// SPDX-License-Identifier: LGPL-2.1-or-later
// Test metrics that a program defines: names in them, their values, and
// mistakes.
#include <gtest/gtest.h>

#include <cmath>

#include <uncore/counter_set.hpp>
#include <uncore/own_metrics.hpp>

#include "backend.hpp"
#include "fake_backend.hpp"
#include "tree.hpp"

using namespace uncore;
using namespace std::chrono_literals;

namespace {

class own : public testing::Test {
protected:
	own() : recorded_("hswep"), machine_(recorded_.topology()) {}

	static metric_definition define(const char *name,
					std::string expression)
	{
		return {.name = name, .expression = std::move(expression)};
	}

	/// The message of the first definition's error; "" without an error.
	std::string wrong(std::vector<metric_definition> definitions)
	{
		const auto metric =
			own_metrics(machine_, std::move(definitions)).metric(0);

		return metric ? "" : metric.error().message;
	}

	/// The formula of the first definition, with events only.
	std::string formula(std::vector<metric_definition> definitions)
	{
		const own_metrics metrics(machine_, std::move(definitions));
		const auto metric = metrics.metric(0);

		return metric ? std::string((*metric)->expression)
			      : metric.error().message;
	}

	/// Count a metric for 1 s in which each counter counts its position in
	/// the plan, from 1, a nanosecond.
	std::vector<double> values(const own_metrics &metrics, scope where)
	{
		counter_set counters(machine_);
		auto backend = std::make_shared<fake_backend>();
		std::vector<double> numbers;

		EXPECT_TRUE(counters.add_metric(**metrics.metric(0)));
		EXPECT_TRUE(open_counters(counters, {}, backend));
		EXPECT_TRUE(counters.enable());
		backend->read_after(1s, counters);
		for (const counted_value &v :
		     counters.values(where, period::total))
			numbers.push_back(v.value());
		return numbers;
	}

	tree recorded_;
	topology machine_;
};

} // namespace

TEST_F(own, names_of_metrics_are_formulas)
{
	EXPECT_EQ(
		formula({define("a", "b / c"),
			 define("b", "imc/cas_count.rd/ + c"),
			 define("c", "qpi/clockticks/")}),
		"(imc/cas_count.rd/ + (qpi/clockticks/)) / (qpi/clockticks/)");
	EXPECT_EQ(formula({define("a", "2 * mem_bw_reads")}),
		  "2 * (" +
			  std::string(catalogue::of(machine_)
					      .metric("mem_bw_reads")
					      ->expression) +
			  ")");
	// An event's name is not a metric's.
	EXPECT_EQ(
		formula({define("a", "imc/a/ + cycles"), define("b", "2 * a")}),
		"imc/a/ + cycles");
}

TEST_F(own, a_weight_comes_with_the_metric)
{
	const own_metrics metrics(
		machine_, {define("a", "2 * avg_tor_drd_miss_latency_ns")});

	ASSERT_TRUE(metrics.metric(0));
	EXPECT_EQ((*metrics.metric(0))->weight,
		  catalogue::of(machine_)
			  .metric("avg_tor_drd_miss_latency_ns")
			  ->weight);
	EXPECT_FALSE((*metrics.metric(0))->weight.empty());
	EXPECT_TRUE(check_available(**metrics.metric(0), machine_));
}

TEST_F(own, values)
{
	const size_t boxes = machine_.match("imc").size();
	const size_t packages = machine_.packages().size();
	const own_metrics rate(
		machine_,
		{define("a", "imc/cas_count.rd/ * 64 / duration_time")});

	for (const double value : values(rate, scope::box))
		EXPECT_DOUBLE_EQ(value, 64e9);
	EXPECT_EQ(values(rate, scope::machine),
		  std::vector<double>{64e9 * double(boxes * packages)});

	// In perf's spelling.
	const own_metrics each(
		machine_,
		{define("a", "imc@cas_count.rd@ / #num_packages / #num_dies")});

	EXPECT_EQ(values(each, scope::package),
		  std::vector<double>(packages, 1e9 * double(boxes)));
	EXPECT_EQ(values(each, scope::machine),
		  std::vector<double>{1e9 * double(boxes) / double(packages)});

	const own_metrics cpus(
		machine_, {define("a", "imc/dclk/ * 0 + #num_cpus_online")});

	EXPECT_EQ(values(cpus, scope::machine),
		  std::vector<double>{double(machine_.cpus().size())});
}

TEST_F(own, several_box_types_have_no_value_of_a_box)
{
	const own_metrics mixed(
		machine_, {define("a", "imc/cas_count.rd/ + ha/clockticks/")});

	for (const double value : values(mixed, scope::box))
		EXPECT_TRUE(std::isnan(value));
	for (const double value : values(mixed, scope::package))
		EXPECT_GT(value, 0);
}

TEST_F(own, names_are_found_with_those_of_the_catalogue)
{
	metric_definition grouped = define("mine", "imc/dclk/");

	grouped.groups = {"memory", "ours"};

	const own_metrics metrics(machine_, {grouped, define("broken", "1 +")});
	const auto found = metrics.find("MINE, mem_bw_total_rate");

	ASSERT_TRUE(found);
	ASSERT_EQ(found->size(), 2u);
	EXPECT_EQ((*found)[0]->name, "mine");
	EXPECT_EQ((*found)[1]->name, "mem_bw_total_rate");
	EXPECT_EQ(metrics.find("ours")->size(), 1u);
	EXPECT_EQ(metrics.find("memory")->size(),
		  find_metrics(machine_, "memory")->size() + 1);
	EXPECT_EQ(metrics.find("broken").error().message,
		  "a value is missing at column 4 of the expression '1 +'");
	EXPECT_EQ(metrics.find("brokn").error().message,
		  "no metric or group of metrics 'brokn'; the nearest: broken");
	EXPECT_EQ(metrics.find("mem_bw_totl").error().message,
		  find_metrics(machine_, "mem_bw_totl").error().message);
}

TEST_F(own, names_that_are_taken)
{
	const auto named = [this](const char *name) {
		return wrong({define(name, "imc/dclk/")});
	};

	EXPECT_EQ(named("read_bw"), "");
	EXPECT_EQ(named("UNC.read_2"), "");
	EXPECT_EQ(
		named("Mem_bw_total"),
		"'Mem_bw_total' is the name of a metric of the catalogue: choose another");
	// Of another generation's catalogue.
	EXPECT_EQ(
		named("fsb_utilisation"),
		"'fsb_utilisation' is the name of a metric of the catalogue: choose another");
	EXPECT_EQ(
		named("memory"),
		"'memory' is the name of a metric or a group of the catalogue: choose another");
	EXPECT_EQ(
		named("memory_bandwidth_read"),
		"'memory_bandwidth_read' is the name of a metric or a group of the catalogue: choose another");
	EXPECT_EQ(named("cycles"),
		  "'cycles' is the name of an event: choose another");
	EXPECT_EQ(named("d_ratio"),
		  "'d_ratio' is the name of a function: choose another");
	for (const char *name :
	     {"", "2x", "a-b", "a b", "a/b", ".a", "\x1b[31m"})
		EXPECT_NE(named(name), "") << name;
	EXPECT_EQ(own_metrics(machine_, {define("a", "imc/dclk/"),
					 define("A", "imc/dclk/")})
			  .metric(1)
			  .error()
			  .message,
		  "'A' is defined before: choose another name");
}

TEST_F(own, mistakes)
{
	EXPECT_EQ(
		wrong({define("a", "b"), define("b", "c"), define("c", "a")}),
		"its 'b': its 'c': 'c' is defined by itself, through 'a': write one of them with events only");
	EXPECT_EQ(
		wrong({define("a", "1 + a")}),
		"'a' is defined by itself, through 'a': write one of them with events only");
	EXPECT_EQ(wrong({define("a", "imc/dclk/ / 0")}),
		  "it always divides by 0: write another divisor");
	EXPECT_EQ(wrong({define("a", "imc/dclk/ / (b % 0)"),
			 define("b", "imc/dclk/")}),
		  "it always divides by 0: write another divisor");
	EXPECT_EQ(
		wrong({define("a", "imc/dclk/ / #num_slots")}),
		"'#num_slots' is not known here, only duration_time, #num_dies, #num_packages, #num_cpus_online");
	EXPECT_EQ(wrong({define("a", "source_count(b)"),
			 define("b", "imc/dclk/")}),
		  "source_count() takes an event, not the metric 'b'");
	EXPECT_EQ(
		wrong({define(
			"a",
			"imc/dclk/ / (source_count(imc/dclk/) * #num_packages)")}),
		"source_count() is of all sockets here, unlike perf's: leave out #num_packages");
	EXPECT_EQ(wrong({define("a", "1 + 1")}),
		  "it is the same number always: an event is missing");
	EXPECT_NE(wrong({define("a", "")}), "");

	// The machine has no such event: the definition is valid elsewhere.
	const own_metrics metrics(machine_, {define("a", "imc/cas_cont.rd/")});

	ASSERT_TRUE(metrics.metric(0));
	EXPECT_EQ(
		check_available(**metrics.metric(0), machine_).error().message,
		"hswep_imc_0 has no event 'cas_cont.rd': did you mean cas_count.rd, cas_count.wr, act_count.rd?");
}

TEST_F(own, long_chains_end)
{
	std::vector<metric_definition> chain, doubling;

	for (int i = 0; i < 5000; i++) {
		const std::string name = "m" + std::to_string(i);
		const std::string next = "m" + std::to_string(i + 1);

		chain.push_back(define(name.c_str(), next));
		doubling.push_back(define(name.c_str(), next + " + " + next));
	}
	chain.push_back(define("m5000", "imc/dclk/"));
	doubling.push_back(define("m30", "imc/dclk/"));
	doubling.erase(doubling.begin() + 30, doubling.end() - 1);
	EXPECT_NE(wrong(chain), "");
	EXPECT_NE(wrong(doubling), "");
}
