// SPDX-License-Identifier: LGPL-2.1-or-later
// Test metrics on counts of a fake backend: by box, by package, and of the machine.
#include <gtest/gtest.h>

#include <cmath>

#include "fake_backend.hpp"
#include "metric.hpp"
#include "tree.hpp"

using namespace uncore;
using namespace std::chrono_literals;

namespace {

class metrics : public testing::Test {
protected:
	explicit metrics(const char *listing = "hswep")
		: recorded_(listing), machine_(recorded_.topology()),
		  backend_(std::make_shared<fake_backend>()), planner_(machine_)
	{
	}

	metric prepare(const char *name)
	{
		auto ready =
			metric::prepare(*catalogue::standard().metric(name),
					machine_, planner_);

		EXPECT_TRUE(ready) << ready.error().message;
		return *std::move(ready);
	}

	/// Open and enable a session with the events of the prepared metrics.
	session start()
	{
		plan_ = std::move(planner_).finish();

		auto opened = open_session(plan_, machine_,
					   {.visit_packages = true}, backend_);

		EXPECT_TRUE(opened);
		EXPECT_TRUE(opened->enable());
		return *std::move(opened);
	}

	/// Let group number n, from 0, count with rate n + 1. Members of a group count
	/// 1, 2, ... times the group's rate.
	void set_rates()
	{
		for (size_t i = 0; i < backend_->groups.size(); i++)
			backend_->groups[i].rate = double(i + 1);
	}

	tree recorded_;
	topology machine_;
	std::shared_ptr<fake_backend> backend_;
	planner planner_;
	plan plan_;
};

class in_tree_metrics : public metrics {
protected:
	in_tree_metrics() : metrics("intel-uncore") {}
};

} // namespace

TEST_F(metrics, a_rate_by_box_package_and_machine)
{
	metric reads = prepare("mem_bw_reads_rate");
	session counts = start();
	size_t boxes = machine_.match("imc").size();
	size_t packages = machine_.packages().size();
	double gib = 64.0 * 1e9 / (1 << 30);

	set_rates();
	backend_->read_after(500ms, counts);

	auto by_box = reads.evaluate(counts, period::total, scope::box);

	ASSERT_EQ(by_box.size(), boxes * packages);
	for (size_t i = 0; i < by_box.size(); i++) {
		EXPECT_NEAR(by_box[i].value, gib * double(i % boxes + 1), 1e-6);
		EXPECT_EQ(by_box[i].package, machine_.packages()[i / boxes].id);
		EXPECT_EQ(by_box[i].pmu, machine_.match("imc")[i % boxes]);
	}

	double sum = gib * double(boxes * (boxes + 1)) / 2;
	auto by_package = reads.evaluate(counts, period::total, scope::package);
	auto by_machine = reads.evaluate(counts, period::total, scope::machine);

	ASSERT_EQ(by_package.size(), packages);
	EXPECT_NEAR(by_package[0].value, sum, 1e-6);
	ASSERT_EQ(by_machine.size(), 1u);
	EXPECT_NEAR(by_machine[0].value, sum * double(packages), 1e-6);
}

TEST_F(metrics, a_ratio_is_of_sums)
{
	// Member 1 of each group counts twice as much as member 0.
	metric latency = prepare("avg_tor_drd_miss_latency");
	session counts = start();

	set_rates();
	backend_->read_after(1ms, counts);
	for (scope where : {scope::box, scope::package, scope::machine})
		for (const metric_value &v :
		     latency.evaluate(counts, period::total, where))
			EXPECT_DOUBLE_EQ(v.value, 0.5);
}

TEST_F(metrics, sources_are_counted)
{
	// The metric is 4 x clockticks / sources / seconds. Its value is the same for a
	// box, a package and the machine.
	metric speed = prepare("qpi_speed");
	session counts = start();

	backend_->read_after(100ms, counts);
	for (scope where : {scope::box, scope::package, scope::machine})
		for (const metric_value &v :
		     speed.evaluate(counts, period::total, where))
			EXPECT_NEAR(v.value, 4.0, 1e-9);
}

TEST_F(metrics, clocks_of_packages_differ)
{
	// The metric is occupancy (member 0) / inserts (member 1) / frequency of the
	// clock (member 2), in nanoseconds.
	metric latency = prepare("avg_tor_drd_miss_latency_ns");
	session counts = start();

	ASSERT_EQ(machine_.packages().size(), 2u);
	for (auto &group : backend_->groups)
		group.factor = [](size_t cpu, size_t member) {
			// Package 1 has half the clock and three times the reads.
			return cpu == 0 ? 1 : member == 2 ? 0.5 : 3;
		};
	latency.watch(counts, scope::machine);
	backend_->read_after(1ms, counts);

	auto by_package =
		latency.evaluate(counts, period::total, scope::package);
	auto by_machine = latency.evaluate(counts, period::total, scope::machine);

	ASSERT_EQ(by_package.size(), 2u);
	EXPECT_NEAR(by_package[0].value, 0.5 / 3, 1e-6);
	EXPECT_NEAR(by_package[1].value, 0.5 / 1.5, 1e-6);
	ASSERT_EQ(by_machine.size(), 1u);
	EXPECT_NEAR(by_machine[0].value, (0.5 / 3 + 3 * 0.5 / 1.5) / 4, 1e-6);
	EXPECT_EQ(by_machine[0].package, -1);
	EXPECT_EQ(by_machine[0].time, 1ms);
	EXPECT_DOUBLE_EQ(by_machine[0].share, 1);
}

TEST_F(metrics, a_package_with_a_stopped_clock_does_not_count)
{
	metric latency = prepare("avg_tor_drd_miss_latency_ns");
	session counts = start();

	for (auto &group : backend_->groups)
		group.factor = [](size_t cpu, size_t) { return cpu == 0; };
	backend_->read_after(1ms, counts);
	EXPECT_NEAR(latency.evaluate(counts, period::total, scope::machine)[0]
			    .value,
		    0.5 / 3, 1e-6);
}

TEST_F(metrics, intervals_are_of_the_last_read)
{
	metric reads = prepare("mem_bw_reads");
	session counts = start();

	backend_->read_after(100ms, counts);
	backend_->read_after(1ms, counts);

	double boxes = double(machine_.match("imc").size() *
			      machine_.packages().size());

	EXPECT_DOUBLE_EQ(
		reads.evaluate(counts, period::interval, scope::machine)[0]
			.value,
		64e6 * boxes);
	EXPECT_DOUBLE_EQ(
		reads.evaluate(counts, period::total, scope::machine)[0].value,
		64 * 101e6 * boxes);
}

TEST_F(metrics, multiplexing_shows)
{
	metric missed = prepare("llc_drd_miss_pct");
	session counts = start();

	for (auto &group : backend_->groups)
		group.share = 0.5;
	// With fewer than three reads the error is unknown.
	for (int i = 0; i < 2; i++) {
		backend_->advance(100ms);
		ASSERT_TRUE(counts.sample());
		EXPECT_TRUE(std::isnan(missed.evaluate(counts, period::total,
						       scope::machine)[0]
					       .error));
	}
	backend_->read_after(100ms, counts);

	metric_value total =
		missed.evaluate(counts, period::total, scope::machine)[0];

	EXPECT_NEAR(total.value, 100, 1e-6);
	EXPECT_DOUBLE_EQ(total.share, 0.5);
	EXPECT_GT(total.error, 0);
}

/// The counts a nanosecond of an event in a burst of data reads, most of which miss.
static double in_burst(const event &counted)
{
	const bool misses = counted.text.find("miss_") != std::string::npos;

	if (counted.text.find("occupancy") != std::string::npos)
		return misses ? 90 : 100;
	return misses ? 0.6 : 1;
}

TEST_F(metrics, an_error_larger_than_the_value_is_no_number)
{
	metric latency = prepare("avg_tor_drd_hit_latency");
	session counts = start();
	auto &groups = backend_->groups;

	latency.watch(counts, scope::machine);
	ASSERT_GT(groups.size(), 1u);
	// Each burst falls into the time slice of another group.
	for (size_t i = 0; i < 4 * groups.size(); i++) {
		for (size_t g = 0; g < groups.size(); g++) {
			groups[g].share = 0.2;
			groups[g].rates.clear();
			for (const event &e : groups[g].members)
				groups[g].rates.push_back(i % groups.size() == g
								  ? in_burst(e)
								  : 0);
		}
		backend_->read_after(10ms, counts);
	}

	const metric_value total =
		latency.evaluate(counts, period::total, scope::machine)[0];

	EXPECT_TRUE(std::isnan(total.value))
		<< total.value << " " << total.error;
	EXPECT_TRUE(std::isnan(total.error));
	EXPECT_TRUE(total.reason.find("has an error of") != std::string::npos)
		<< total.reason;
}

TEST_F(metrics, nothing_counted_is_no_number)
{
	metric hits = prepare("pct_requests_page_hit");
	session counts = start();

	for (auto &group : backend_->groups)
		group.rate = 0;
	backend_->read_after(1ms, counts);
	EXPECT_TRUE(std::isnan(
		hits.evaluate(counts, period::total, scope::machine)[0].value));
}

TEST_F(in_tree_metrics, work_under_its_names)
{
	metric reads = prepare("mem_bw_reads");
	session counts = start();

	backend_->read_after(1ms, counts);
	EXPECT_EQ(
		reads.evaluate(counts, period::total, scope::box)[0].pmu->name,
		"uncore_imc_0");
}

TEST_F(in_tree_metrics, what_is_lacking_is_said)
{
	auto ready = metric::prepare(
		*catalogue::standard().metric("cyc_used_upeven"), machine_,
		planner_);

	ASSERT_FALSE(ready);
	EXPECT_EQ(ready.error().code, errc::unsupported);
}
