// SPDX-License-Identifier: LGPL-2.1-or-later
// Counting with made-up counters and a clock that stands still: deltas, scaling
// and its error, packages, CPUs that go away.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <uncore/session.hpp>

#include "estimate.hpp"
#include "fake_backend.hpp"
#include "tree.hpp"

using namespace uncore;
using namespace std::chrono_literals;

namespace {

class counting : public testing::Test {
protected:
	counting()
		: recorded_("hswep"), machine_(recorded_.topology()),
		  backend_(std::make_shared<fake_backend>())
	{
	}

	session start(std::string_view text)
	{
		session opened = open(text);

		EXPECT_TRUE(opened.enable());
		return opened;
	}

	/// Not enabled.
	session open(std::string_view text)
	{
		planner made(machine_);
		auto groups = parse_events(text, machine_);

		EXPECT_TRUE(groups) << groups.error().message;
		for (const event_group &group : *groups)
			EXPECT_TRUE(made.add(group));
		plan_ = std::move(made).finish();

		auto opened = open_session(plan_, machine_, {.visit_packages = true}, backend_);

		EXPECT_TRUE(opened);
		return *std::move(opened);
	}

	tree recorded_;
	topology machine_;
	std::shared_ptr<fake_backend> backend_;
	plan plan_;
};

constexpr counter_id first{0, 0}, second{0, 1};

} // namespace

TEST_F(counting, deltas_and_totals)
{
	session counts = start("imc_0/cas_count.rd/,imc_0/cas_count.wr/");

	backend_->advance(10ms);
	ASSERT_TRUE(counts.read());
	backend_->advance(30ms);
	ASSERT_TRUE(counts.read());

	EXPECT_EQ(counts.interval(first, 0).raw, 30000000u);
	EXPECT_EQ(counts.interval(second, 0).value, 60e6);
	EXPECT_EQ(counts.total(first, 0).raw, 40000000u);
	EXPECT_EQ(counts.total(first, 0).enabled, 40ms);
	EXPECT_EQ(counts.total(first, 0).error, 0);
	EXPECT_EQ(counts.interval_time(), 30ms);
	EXPECT_EQ(counts.total_time(), 40ms);
	EXPECT_FALSE(counts.was_multiplexed());
}

TEST_F(counting, one_read_a_group_and_package)
{
	session counts = start("imc/cas_count.rd/,imc/cas_count.wr/,imc/dclk/");
	size_t boxes = machine_.match("imc").size();

	ASSERT_TRUE(counts.read());
	EXPECT_EQ(backend_->reads, boxes * machine_.packages().size());
}

TEST_F(counting, each_package_is_visited)
{
	session counts = start("imc/cas_count.rd/");
	auto packages = machine_.packages();

	ASSERT_EQ(packages.size(), 2u);
	ASSERT_TRUE(counts.read());
	EXPECT_EQ(backend_->visited,
		  (std::vector<std::vector<int>>{
			  packages[0].cpus, packages[1].cpus, {}}));
}

TEST_F(counting, each_package_is_told)
{
	session counts = start("imc_0/cas_count.rd/");

	ASSERT_EQ(counts.cpus(first).size(), machine_.packages().size());
	for (size_t i = 0; i < counts.cpus(first).size(); i++)
		EXPECT_EQ(counts.package(first, i),
			  machine_.package_of(counts.cpus(first)[i]));
}

TEST_F(counting, what_ran_for_half_of_the_time_is_doubled)
{
	session counts = start("imc_0/cas_count.rd/");

	backend_->groups[0].share = 0.5;
	for (int i = 0; i < 10; i++) {
		backend_->advance(10ms);
		ASSERT_TRUE(counts.read());
	}

	count total = counts.total(first, 0);

	EXPECT_EQ(total.raw, 50000000u);
	EXPECT_NEAR(total.value, 100e6, 1);
	EXPECT_DOUBLE_EQ(total.share(), 0.5);
	// the rate never changed: only what independent events would have
	EXPECT_NEAR(total.error, std::sqrt(50e6 * 0.5) / 0.5, 1);
	EXPECT_TRUE(counts.was_multiplexed());
}

TEST_F(counting, phases_are_scaled_by_themselves)
{
	session counts = start("imc_0/cas_count.rd/");

	// a busy phase that is seen for a tenth, an idle one that is seen whole
	backend_->groups[0].share = 0.1;
	backend_->groups[0].rate = 10;
	backend_->advance(100ms);
	ASSERT_TRUE(counts.read());
	backend_->groups[0].share = 1;
	backend_->groups[0].rate = 0;
	backend_->advance(100ms);
	ASSERT_TRUE(counts.read());

	EXPECT_NEAR(counts.total(first, 0).value, 1e9, 10);
}

TEST_F(counting, what_never_ran_has_no_value)
{
	session counts = start("imc_0/cas_count.rd/");

	backend_->groups[0].share = 0;
	backend_->advance(10ms);
	ASSERT_TRUE(counts.read());

	EXPECT_TRUE(std::isnan(counts.interval(first, 0).value));
	EXPECT_TRUE(std::isnan(counts.total(first, 0).value));
	EXPECT_EQ(counts.total(first, 0).share(), 0);
}

TEST_F(counting, unseen_time_is_filled_in)
{
	session counts = start("imc_0/cas_count.rd/");

	backend_->advance(10ms);
	ASSERT_TRUE(counts.read());
	backend_->groups[0].share = 0;
	backend_->advance(10ms);
	ASSERT_TRUE(counts.read());

	EXPECT_NEAR(counts.total(first, 0).value, 20e6, 1);
}

static void expect_offline(const result<void> &outcome, int cpu)
{
	ASSERT_FALSE(outcome);
	EXPECT_EQ(outcome.error().code, errc::gone);
	EXPECT_NE(outcome.error().message.find("CPU " + std::to_string(cpu) +
					       " went offline"),
		  std::string::npos)
		<< outcome.error().message;
}

TEST_F(counting, a_cpu_that_goes_offline_is_named_once)
{
	session counts = start("imc/cas_count.rd/");
	int cpu = counts.cpus(first)[1];

	backend_->advance(10ms);
	ASSERT_TRUE(counts.read());
	backend_->offline.insert(cpu);
	backend_->advance(10ms);

	expect_offline(counts.read(), cpu);
	// the other package goes on, and what was counted stays
	backend_->advance(10ms);
	EXPECT_TRUE(counts.read());
	EXPECT_EQ(counts.total(first, 0).raw, 30000000u);
	EXPECT_EQ(counts.total(first, 1).raw, 10000000u);
	EXPECT_EQ(counts.interval(first, 1).raw, 0u);
}

TEST_F(counting, a_cpu_that_went_offline_meanwhile_is_named_too)
{
	session counts = start("imc/cas_count.rd/");
	int cpu = counts.cpus(first)[1];

	backend_->advance(10ms);
	ASSERT_TRUE(counts.read());
	// it counted for a while since the last read
	backend_->advance(4ms);
	backend_->offline.insert(cpu);
	backend_->advance(6ms);

	expect_offline(counts.read(), cpu);
	EXPECT_EQ(counts.total(first, 0).raw, 20000000u);
	EXPECT_EQ(counts.total(first, 1).raw, 14000000u);
}

TEST_F(counting, a_cpu_that_was_away_and_goes_on_is_not_gone)
{
	session counts = start("imc/cas_count.rd/");
	int cpu = counts.cpus(first)[1];

	backend_->advance(10ms);
	ASSERT_TRUE(counts.read());
	backend_->offline.insert(cpu);
	backend_->advance(6ms);
	// or its read came late the last time: there is no telling
	backend_->offline.clear();
	backend_->advance(4ms);
	EXPECT_TRUE(counts.read());
	backend_->advance(10ms);
	EXPECT_TRUE(counts.read());
	EXPECT_EQ(counts.total(first, 1).enabled, 25ms);
}

TEST_F(counting, a_refusal_is_passed_on)
{
	planner made(machine_);
	auto groups = parse_events("imc_0/cas_count.rd/", machine_);

	ASSERT_TRUE(groups);
	ASSERT_TRUE(made.add(groups->front()));

	plan wanted = std::move(made).finish();

	backend_->refusal = error{errc::permission, "no permission"};

	auto opened = open_session(wanted, machine_, {}, backend_);

	ASSERT_FALSE(opened);
	EXPECT_EQ(opened.error().code, errc::permission);
}

namespace {

/// Boxes whose rates scatter, and which are seen for three slices of ten.
class scattering : public counting {
protected:
	static constexpr int strata = 20, slices = 10, seen = 3;

	/// Counts for a while. @p step: all boxes' rates change together.
	/// @return what the boxes counted in truth.
	double pass(session &counts, bool step)
	{
		std::normal_distribution<double> rate(1, 0.2);
		double truth = 0;

		for (int i = 0; i < strata; i++) {
			for (int slice = 0; slice < slices; slice++) {
				double common = std::max(0.0, rate(random_));

				for (auto &group : backend_->groups) {
					group.rate =
						step ? common
						     : std::max(0.0,
								rate(random_));
					group.share = slice < seen;
					truth += group.rate * 1e6 *
						 double(group.cpus.size());
				}
				backend_->advance(1ms);
			}
			EXPECT_TRUE(counts.read());
		}
		return truth;
	}

	/// How many of a hundred sums over all boxes are within one standard
	/// error.
	int within(bool step)
	{
		int good = 0;

		for (int run = 0; run < 100; run++) {
			backend_ = std::make_shared<fake_backend>();

			session counts = open("cbox/clockticks/");
			std::vector<counter_at> all;

			for (uint32_t g = 0; g < backend_->groups.size(); g++)
				for (size_t c = 0;
				     c < backend_->groups[g].cpus.size(); c++)
					all.push_back({{g, 0}, c});
			EXPECT_GE(all.size(), 16u);

			sum_set sums = counts.add_up(
				std::vector<std::vector<counter_at>>{all});

			EXPECT_TRUE(counts.enable());

			double truth = pass(counts, step);
			count total = counts.total(sums, 0);

			good += std::fabs(total.value - truth) < total.error;
		}
		return good;
	}

	std::mt19937_64 random_{1};
};

} // namespace

// A program's phases hit all boxes at once: their errors do not cancel out.
TEST_F(scattering, boxes_in_step)
{
	int good = within(true);

	EXPECT_GT(good, 55);
	EXPECT_LT(good, 80);
}

// Each package's rate is one here, hence two in step.
TEST_F(scattering, boxes_out_of_step)
{
	int good = within(false);

	EXPECT_GT(good, 55);
	EXPECT_LT(good, 80);
}

// The sum of two events of a group is as uncertain as if it were one event;
// their difference is more certain.
TEST_F(scattering, events_in_step)
{
	session counts = open("imc_0/cas_count.rd/,imc_0/cas_count.wr/");
	sum_set sums = counts.add_up(std::vector<std::vector<counter_at>>{
		{{first, 0}}, {{second, 0}}});

	ASSERT_TRUE(counts.enable());
	pass(counts, true);

	double one = counts.total(sums, 0).error;
	double two = counts.total(sums, 1).error;
	const double together[] = {1, 1}, apart[] = {2, -1};

	EXPECT_NEAR(counts.error(sums, together, period::total), one + two,
		    (one + two) / 100);
	EXPECT_LT(counts.error(sums, apart, period::total), one / 20);
}

// The estimate's own claim: of many runs, about two thirds are within one
// standard error.
TEST(estimator, error_is_honest)
{
	std::mt19937_64 random(1);
	int within = 0;
	const int runs = 2000, strata = 20;

	for (int run = 0; run < runs; run++) {
		estimator made;
		double truth = 0;

		for (int i = 0; i < strata; i++) {
			// ten slices whose rates scatter; three of them are
			// seen
			std::normal_distribution<double> rate(1000, 200);
			stratum seen{0, 1000, 300};

			for (int slice = 0; slice < 10; slice++) {
				double n = std::max(0.0, rate(random));

				truth += n;
				if (slice < 3)
					seen.raw += uint64_t(n);
			}
			made.add(seen);
		}
		within += std::fabs(made.value() - truth) < made.error();
	}
	EXPECT_GT(within, runs * 60 / 100);
	EXPECT_LT(within, runs * 76 / 100);
}

TEST(estimator, a_drift_is_no_noise)
{
	estimator made;

	for (uint64_t i = 0; i < 100; i++)
		made.add({1000000 + 10000 * i, 1000, 500});
	// successive rates differ by 20 a nanosecond, all in all by 2000
	EXPECT_LT(made.error(), 20 * 1000 * 10);
}

TEST_F(counting, a_session_keeps_what_it_needs)
{
	std::optional<session> counts;

	{
		auto machine = topology::read(recorded_.path());

		ASSERT_TRUE(machine);
		planner made(*machine);
		auto groups = parse_events("imc_0/cas_count.rd/", *machine);

		ASSERT_TRUE(groups);
		ASSERT_TRUE(made.add(groups->front()));
		auto opened = open_session(std::move(made).finish(), *machine,
					   {}, backend_);

		ASSERT_TRUE(opened);
		counts.emplace(*std::move(opened));
	}
	ASSERT_TRUE(counts->enable());
	backend_->offline.insert(counts->cpus(first)[1]);
	backend_->advance(10ms);

	// names the PMU, of a topology that only the session still has
	auto outcome = counts->read();

	ASSERT_FALSE(outcome);
	EXPECT_NE(outcome.error().message.find("hswep_imc_0"),
		  std::string::npos);
	EXPECT_EQ(counts->total(first, 0).raw, 10000000u);
}

TEST_F(counting, nobody_is_moved_who_did_not_ask)
{
	planner made(machine_);
	auto groups = parse_events("imc/cas_count.rd/", machine_);

	ASSERT_TRUE(groups);
	ASSERT_TRUE(made.add(groups->front()));

	auto counts =
		open_session(std::move(made).finish(), machine_, {}, backend_);

	ASSERT_TRUE(counts);
	ASSERT_TRUE(counts->read());
	EXPECT_TRUE(backend_->visited.empty());
}
