// SPDX-License-Identifier: LGPL-2.1-or-later
// Test counting sessions with a fake backend and a manual clock: counts between
// reads, scaling and its error, packages, CPUs that go offline, boxes that die.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "estimate.hpp"
#include "fake_backend.hpp"
#include "session.hpp"
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

	/// Open a session without enabling its counters.
	session open(std::string_view text)
	{
		planner planner(machine_);
		auto groups = parse_events(text, machine_);

		EXPECT_TRUE(groups) << groups.error().message;
		for (const event_group &group : *groups)
			EXPECT_TRUE(planner.add(group));
		plan_ = std::move(planner).finish();

		auto opened = open_session(plan_, machine_,
					   {.visit_packages = true}, backend_);

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

	backend_->read_after(10ms, counts);
	backend_->read_after(30ms, counts);

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
	for (int i = 0; i < 10; i++)
		backend_->read_after(10ms, counts);

	count total = counts.total(first, 0);

	EXPECT_EQ(total.raw, 50000000u);
	EXPECT_NEAR(total.value, 100e6, 1);
	EXPECT_DOUBLE_EQ(total.share(), 0.5);
	// The rate is constant: the error is that of independent events.
	EXPECT_NEAR(total.error, std::sqrt(50e6 * 0.5) / 0.5, 1);
	EXPECT_TRUE(counts.was_multiplexed());
}

// An event that ran for half of the time and counted 0 may have happened in the other
// half: its count is not exactly 0.
TEST_F(counting, the_error_of_a_multiplexed_0_is_unknown)
{
	session counts = open("imc_0/cas_count.rd/");
	sum_set sums = counts.add_up(
		std::vector<std::vector<counter_at>>{{{first, 0}, {first, 1}}});

	ASSERT_TRUE(counts.enable());
	backend_->groups[0].share = 0.5;
	backend_->groups[0].rate = 0;
	for (int i = 0; i < 10; i++)
		backend_->read_after(10ms, counts);
	for (const count &got :
	     {counts.total(first, 0), counts.interval(first, 0),
	      counts.total(sums, 0), counts.interval(sums, 0)}) {
		EXPECT_EQ(got.value, 0);
		EXPECT_TRUE(std::isnan(got.error)) << got.error;
	}
}

// The event fits on the box alone, but another program's events use the counters as well.
TEST_F(counting, the_error_of_few_reads_is_unknown)
{
	session counts = open("imc_0/cas_count.rd/");
	sum_set sums = counts.add_up(
		std::vector<std::vector<counter_at>>{{{first, 0}, {first, 1}}});

	ASSERT_TRUE(counts.enable());
	EXPECT_EQ(counts.sample_time(), 0ns);
	backend_->groups[0].share = 0.5;
	for (int reads = 1; reads <= 3; reads++) {
		backend_->read_after(10ms, counts);
		for (double error : {counts.total(first, 0).error,
				     counts.interval(first, 0).error,
				     counts.total(sums, 0).error,
				     counts.interval(sums, 0).error})
			EXPECT_EQ(std::isnan(error), reads < 3) << reads;
		EXPECT_NEAR(counts.total(first, 0).value, 10e6 * reads, 1);
	}
	// two turns of perf's 4 ms
	EXPECT_EQ(counts.sample_time(), 8ms);
}

TEST_F(counting, samples_are_of_the_interval_that_goes_on)
{
	session counts = start("imc_0/cas_count.rd/");
	auto &group = backend_->groups[0];

	backend_->read_after(10ms, counts);
	// The event runs for a tenth of a busy phase, and for all of an idle phase.
	group.share = 0.1;
	group.rate = 10;
	backend_->advance(10ms);
	ASSERT_TRUE(counts.sample());
	group.share = 1;
	group.rate = 0;
	backend_->advance(10ms);
	ASSERT_TRUE(counts.sample());
	EXPECT_EQ(counts.interval_time(), 20ms);
	backend_->read_after(10ms, counts);
	EXPECT_EQ(counts.interval_time(), 30ms);
	EXPECT_EQ(counts.interval(first, 0).enabled, 30ms);
	EXPECT_EQ(counts.interval(first, 0).running, 21ms);
	EXPECT_NEAR(counts.interval(first, 0).value, 100e6, 10);
	EXPECT_EQ(counts.interval(first, 0).raw, 10000000u);

	// The read has begun a new interval.
	backend_->read_after(10ms, counts);
	EXPECT_EQ(counts.interval_time(), 10ms);
	EXPECT_EQ(counts.interval(first, 0).value, 0);
	EXPECT_EQ(counts.interval(first, 0).error, 0);
}

TEST_F(counting, phases_are_scaled_by_themselves)
{
	session counts = start("imc_0/cas_count.rd/");

	// The event runs for a tenth of a busy phase, and for all of an idle phase.
	backend_->groups[0].share = 0.1;
	backend_->groups[0].rate = 10;
	backend_->read_after(100ms, counts);
	backend_->groups[0].share = 1;
	backend_->groups[0].rate = 0;
	backend_->read_after(100ms, counts);

	EXPECT_NEAR(counts.total(first, 0).value, 1e9, 10);
}

TEST_F(counting, what_never_ran_has_no_value)
{
	session counts = start("imc_0/cas_count.rd/");

	backend_->groups[0].share = 0;
	backend_->read_after(10ms, counts);

	EXPECT_TRUE(std::isnan(counts.interval(first, 0).value));
	EXPECT_TRUE(std::isnan(counts.total(first, 0).value));
	EXPECT_EQ(counts.total(first, 0).share(), 0);
}

TEST_F(counting, unseen_time_is_filled_in)
{
	session counts = start("imc_0/cas_count.rd/");

	backend_->read_after(10ms, counts);
	backend_->groups[0].share = 0;
	backend_->read_after(10ms, counts);

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

	backend_->read_after(10ms, counts);
	backend_->offline.insert(cpu);
	backend_->advance(10ms);

	expect_offline(counts.read(), cpu);
	// The other package keeps counting, and earlier counts of the CPU stay.
	backend_->advance(10ms);
	EXPECT_TRUE(counts.read());
	EXPECT_EQ(counts.total(first, 0).raw, 30000000u);
	EXPECT_EQ(counts.total(first, 1).raw, 10000000u);
	EXPECT_EQ(counts.interval(first, 1).raw, 0u);
}

namespace {

std::filesystem::path mask_of(const pmu_info &pmu)
{
	return pmu.folder / "cpumask";
}

} // namespace

// The driver removes the CPU of a dead box from the PMU's cpumask, and the box's events
// no longer get a counter.
TEST_F(counting, a_box_that_dies_is_named_once)
{
	session counts = start("imc_0/cas_count.rd/,imc_1/cas_count.rd/");
	const pmu_info &box = *plan_.groups[0].pmu;
	const int stays = box.cpus[0], package = counts.package(first, 1);

	backend_->read_after(10ms, counts);
	EXPECT_EQ(counts.health(first, 1, period::total).condition,
		  condition::counting);
	EXPECT_TRUE(counts.news().empty());
	backend_->groups[0].share = 0;
	backend_->files[mask_of(box)] = std::to_string(stays) + "\n";
	backend_->advance(10ms);

	auto outcome = counts.read();

	ASSERT_FALSE(outcome);
	EXPECT_EQ(outcome.error().code, errc::gone);
	EXPECT_EQ(counts.news(),
		  std::vector<std::string>{
			  "hswep_imc_0 of socket " + std::to_string(package) +
			  " does not answer any more: counts stay as they "
			  "are"});
	EXPECT_EQ(counts.health(first, 1, period::interval).condition,
		  condition::dead);
	EXPECT_FALSE(counts.health(first, 1, period::total).measured());
	EXPECT_TRUE(counts.health(first, 0, period::total).measured());
	EXPECT_TRUE(counts.health({1, 0}, 1, period::total).measured());

	// The earlier count stays, and is not scaled to the time after the box died.
	backend_->advance(10ms);
	EXPECT_TRUE(counts.read());
	EXPECT_TRUE(counts.news().empty());
	EXPECT_EQ(counts.total(first, 1).value, 10e6);
	EXPECT_TRUE(std::isnan(counts.interval(first, 1).value));
	EXPECT_FALSE(counts.counted(first, 1, period::interval));
	EXPECT_TRUE(counts.counted(first, 1, period::total));
	EXPECT_GE(counts.total({1, 0}, 1).value, 30e6);
}

// The driver notices the dead box at the session's only read.
TEST_F(counting, a_box_that_died_is_found_by_the_only_read)
{
	session counts = start("imc_0/cas_count.rd/");
	const pmu_info &box = *plan_.groups[0].pmu;

	backend_->files[mask_of(box)] = std::to_string(box.cpus[0]);
	backend_->advance(10ms);
	EXPECT_FALSE(counts.read());
	EXPECT_EQ(counts.news().size(), 1u);
}

TEST_F(counting, sums_go_on_without_a_dead_box)
{
	session counts = open("imc/cas_count.rd/");
	std::vector<counter_at> counters;

	for (uint32_t g = 0; g < backend_->groups.size(); g++)
		for (size_t c = 0; c < backend_->groups[g].cpus.size(); c++)
			counters.push_back({{g, 0}, c});

	sum_set sums =
		counts.add_up(std::vector<std::vector<counter_at>>{counters});
	const pmu_info &box = *plan_.groups[0].pmu;

	ASSERT_TRUE(counts.enable());
	backend_->files[mask_of(box)] = "";
	backend_->advance(10ms);
	EXPECT_FALSE(counts.read());
	// The box is dead on both packages.
	EXPECT_EQ(counts.news().size(), 2u);
	backend_->advance(10ms);
	EXPECT_TRUE(counts.read());
	EXPECT_EQ(counts.interval(sums, 0).value,
		  double(counters.size() - 2) *
			  counts.interval({1, 0}, 0).value);
}

TEST_F(counting, a_box_that_is_dead_at_the_start_is_left_out)
{
	auto groups = parse_events("imc_0/cas_count.rd/,imc_1/cas_count.rd/",
				   machine_);

	ASSERT_TRUE(groups);

	const pmu_info &in_mask = *groups->front().terms[0].events[0].pmu;
	const pmu_info &silent = *groups->back().terms[0].events[0].pmu;

	// The cpumask of imc_0 lacks a CPU, and imc_1 dies when its event is opened.
	backend_->files[mask_of(in_mask)] = std::to_string(in_mask.cpus[0]);
	backend_->silent.insert({silent.name, silent.cpus[0]});

	session counts = start("imc_0/cas_count.rd/,imc_1/cas_count.rd/");
	auto news = counts.news();

	ASSERT_EQ(news.size(), 2u);
	EXPECT_NE(news[0].find("hswep_imc_0 of socket 1 does not answer"),
		  std::string::npos)
		<< news[0];
	EXPECT_NE(news[1].find("hswep_imc_1 of socket 0 does not answer"),
		  std::string::npos)
		<< news[1];
	EXPECT_EQ(counts.cpus(first).size(), 1u);
	EXPECT_EQ(counts.cpus({1, 0}).size(), 1u);
	EXPECT_EQ(counts.package({1, 0}, 0), 1);
	backend_->advance(10ms);
	EXPECT_TRUE(counts.read());
	EXPECT_EQ(counts.total({1, 0}, 0).raw, 10000000u);

	size_t absent = 0;

	for (const box_health &box : counts.health(period::total))
		absent += box.condition == condition::absent;
	EXPECT_EQ(absent, 2u);
}

TEST_F(counting, none_answers)
{
	planner planner(machine_);
	auto groups = parse_events("imc_0/cas_count.rd/", machine_);

	ASSERT_TRUE(groups);
	ASSERT_TRUE(planner.add(groups->front()));
	backend_->files[mask_of(*groups->front().terms[0].events[0].pmu)] = "";

	auto opened = open_session(std::move(planner).finish(), machine_, {},
				   backend_);

	ASSERT_FALSE(opened);
	EXPECT_EQ(opened.error().code, errc::gone);
}

TEST_F(counting, foreign_writes_mark_the_package_for_an_interval)
{
	const auto file =
		recorded_.path() / "module/xeon_uncore/package1/foreign_writes";

	backend_->files[file] = "7\n";

	session counts = start("imc_0/cas_count.rd/");

	backend_->read_after(10ms, counts);
	EXPECT_TRUE(counts.news().empty());
	for (const char *writes : {"8\n", "9\n"}) {
		backend_->files[file] = writes;
		backend_->read_after(10ms, counts);
		EXPECT_EQ(counts.health(first, 1, period::interval).condition,
			  condition::disturbed);
		EXPECT_EQ(counts.health(first, 0, period::interval).condition,
			  condition::counting);
	}
	// The foreign writes of both intervals are reported once.
	EXPECT_EQ(counts.news().size(), 1u);
	backend_->read_after(10ms, counts);
	EXPECT_EQ(counts.health(first, 1, period::interval).condition,
		  condition::counting);
	EXPECT_EQ(counts.health(first, 1, period::total).condition,
		  condition::disturbed);
	EXPECT_TRUE(counts.health(first, 1, period::total).measured());
}

TEST_F(counting, a_clock_that_stops_beside_others_is_named)
{
	session counts = start("imc/dclk/");

	// No clock ticks: this is not a fault of a single box.
	for (auto &group : backend_->groups)
		group.rate = 0;
	backend_->read_after(10ms, counts);
	EXPECT_TRUE(counts.news().empty());
	for (size_t g = 1; g < backend_->groups.size(); g++)
		backend_->groups[g].rate = 1;
	backend_->read_after(10ms, counts);

	auto news = counts.news();

	ASSERT_EQ(news.size(), 2u);
	EXPECT_EQ(news[0], "hswep_imc_0 of socket 0 counts nothing: the clock "
			   "has stopped");
	EXPECT_TRUE(counts.health(first, 0, period::total).measured());
}

TEST_F(counting, a_cpu_that_went_offline_meanwhile_is_named_too)
{
	session counts = start("imc/cas_count.rd/");
	int cpu = counts.cpus(first)[1];

	backend_->read_after(10ms, counts);
	// The CPU counts for 4 ms after the last read, then it goes offline.
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

	backend_->read_after(10ms, counts);
	backend_->offline.insert(cpu);
	backend_->advance(6ms);
	// The CPU is online again before the read. A read of the CPU that comes late has
	// the same times.
	backend_->offline.clear();
	backend_->advance(4ms);
	EXPECT_TRUE(counts.read());
	backend_->advance(10ms);
	EXPECT_TRUE(counts.read());
	EXPECT_EQ(counts.total(first, 1).enabled, 25ms);
}

TEST_F(counting, a_refusal_is_passed_on)
{
	planner planner(machine_);
	auto groups = parse_events("imc_0/cas_count.rd/", machine_);

	ASSERT_TRUE(groups);
	ASSERT_TRUE(planner.add(groups->front()));

	plan wanted = std::move(planner).finish();

	backend_->refusal = error{errc::permission, "no permission"};

	auto opened = open_session(wanted, machine_, {}, backend_);

	ASSERT_FALSE(opened);
	EXPECT_EQ(opened.error().code, errc::permission);
}

namespace {

/// Boxes whose rates scatter, and whose events run for three time slices of ten.
class scattering : public counting {
protected:
	static constexpr int strata = 20, slices = 10, seen = 3;

	/// Let time pass, with a read after every ten time slices.
	/// @param step the rates of all boxes change together
	/// @return the true count of all boxes
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

	/// Count how many of a hundred sums over all boxes are within one standard
	/// error of the true count.
	int within(bool step)
	{
		int good = 0;

		for (int run = 0; run < 100; run++) {
			backend_ = std::make_shared<fake_backend>();

			session counts = open("cbox/clockticks/");
			std::vector<counter_at> counters;

			for (uint32_t g = 0; g < backend_->groups.size(); g++)
				for (size_t c = 0;
				     c < backend_->groups[g].cpus.size(); c++)
					counters.push_back({{g, 0}, c});
			EXPECT_GE(counters.size(), 16u);

			sum_set sums = counts.add_up(
				std::vector<std::vector<counter_at>>{counters});

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

// A phase of a program changes the rates of all boxes at once, so that the errors of the
// boxes add up.
TEST_F(scattering, boxes_in_step)
{
	int good = within(true);

	EXPECT_GT(good, 55);
	EXPECT_LT(good, 80);
}

// Each box has its own rate, which both packages share: only two counters change
// together, and the errors of the boxes partly cancel out.
TEST_F(scattering, boxes_out_of_step)
{
	int good = within(false);

	EXPECT_GT(good, 55);
	EXPECT_LT(good, 80);
}

// Two events of a group run in the same time slices: the errors of their sum add up, and
// the errors of their difference cancel out.
TEST_F(scattering, events_in_step)
{
	session counts = open("imc_0/cas_count.rd/,imc_0/cas_count.wr/");
	sum_set sums = counts.add_up(std::vector<std::vector<counter_at>>{
		{{first, 0}}, {{second, 0}}});

	ASSERT_TRUE(counts.enable());
	pass(counts, true);

	double error_1 = counts.total(sums, 0).error;
	double error_2 = counts.total(sums, 1).error;
	const double sum[] = {1, 1}, difference[] = {2, -1};

	EXPECT_NEAR(counts.error(sums, sum, period::total), error_1 + error_2,
		    (error_1 + error_2) / 100);
	EXPECT_LT(counts.error(sums, difference, period::total), error_1 / 20);
}

// About two thirds of many estimates must be within one standard error of the truth.
TEST(estimator, error_is_honest)
{
	std::mt19937_64 random(1);
	int within = 0;
	const int runs = 2000, strata = 20;

	for (int run = 0; run < runs; run++) {
		estimator estimate;
		double truth = 0;

		for (int i = 0; i < strata; i++) {
			// ten time slices whose rates scatter; the counter runs
			// in three of them
			std::normal_distribution<double> rate(1000, 200);
			stratum seen{0, 1000, 300};

			for (int slice = 0; slice < 10; slice++) {
				double n = std::max(0.0, rate(random));

				truth += n;
				if (slice < 3)
					seen.raw += uint64_t(n);
			}
			estimate.add(seen);
		}
		within += std::fabs(estimate.total().scaled() - truth) <
			  estimate.error();
	}
	EXPECT_GT(within, runs * 60 / 100);
	EXPECT_LT(within, runs * 76 / 100);
}

TEST(estimator, a_drift_is_no_noise)
{
	estimator estimate;

	for (uint64_t i = 0; i < 100; i++)
		estimate.add({1000000 + 10000 * i, 1000, 500});
	// successive rates differ by 20 a nanosecond, the first and last rate by 2000
	EXPECT_LT(estimate.error(), 20 * 1000 * 10);
}

TEST_F(counting, a_session_keeps_what_it_needs)
{
	std::optional<session> counts;

	{
		auto machine = topology::read(recorded_.path());

		ASSERT_TRUE(machine);

		planner planner(*machine);
		auto groups = parse_events("imc_0/cas_count.rd/", *machine);

		ASSERT_TRUE(groups);
		ASSERT_TRUE(planner.add(groups->front()));

		auto opened = open_session(std::move(planner).finish(),
					   *machine, {}, backend_);

		ASSERT_TRUE(opened);
		counts.emplace(*std::move(opened));
	}
	ASSERT_TRUE(counts->enable());
	backend_->offline.insert(counts->cpus(first)[1]);
	backend_->advance(10ms);

	// The error names the PMU of a topology that only the session still has.
	auto outcome = counts->read();

	ASSERT_FALSE(outcome);
	EXPECT_NE(outcome.error().message.find("hswep_imc_0"),
		  std::string::npos);
	EXPECT_EQ(counts->total(first, 0).raw, 10000000u);
}

TEST_F(counting, nobody_is_moved_who_did_not_ask)
{
	planner planner(machine_);
	auto groups = parse_events("imc/cas_count.rd/", machine_);

	ASSERT_TRUE(groups);
	ASSERT_TRUE(planner.add(groups->front()));

	auto counts = open_session(std::move(planner).finish(), machine_, {},
				   backend_);

	ASSERT_TRUE(counts);
	ASSERT_TRUE(counts->read());
	EXPECT_TRUE(backend_->visited.empty());
}
