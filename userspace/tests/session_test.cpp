// SPDX-License-Identifier: LGPL-2.1-or-later
// Counting with made-up counters and a manual clock: deltas, scaling
// and its error, packages, CPUs that go away.
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
	// the rate never changed: only what independent events would have
	EXPECT_NEAR(total.error, std::sqrt(50e6 * 0.5) / 0.5, 1);
	EXPECT_TRUE(counts.was_multiplexed());
}

// Counted for half of the time and never seen: not "0, exactly".
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

// Another program's events share the counters of one that would fit.
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
	// a busy phase that is seen for a tenth, an idle one that is seen whole
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

	// and the next one is new
	backend_->read_after(10ms, counts);
	EXPECT_EQ(counts.interval_time(), 10ms);
	EXPECT_EQ(counts.interval(first, 0).value, 0);
	EXPECT_EQ(counts.interval(first, 0).error, 0);
}

TEST_F(counting, phases_are_scaled_by_themselves)
{
	session counts = start("imc_0/cas_count.rd/");

	// a busy phase that is seen for a tenth, an idle one that is seen whole
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
	// the other package keeps counting, and what was counted stays
	backend_->advance(10ms);
	EXPECT_TRUE(counts.read());
	EXPECT_EQ(counts.total(first, 0).raw, 30000000u);
	EXPECT_EQ(counts.total(first, 1).raw, 10000000u);
	EXPECT_EQ(counts.interval(first, 1).raw, 0u);
}

namespace {

std::filesystem::path mask_of(const pmu_info &which)
{
	return which.folder / "cpumask";
}

} // namespace

// The driver takes a box that has died out of the cpumask, and perf gives its
// events no counter any more.
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

	// what was counted stays, and is not scaled to the time after
	backend_->advance(10ms);
	EXPECT_TRUE(counts.read());
	EXPECT_TRUE(counts.news().empty());
	EXPECT_EQ(counts.total(first, 1).value, 10e6);
	EXPECT_TRUE(std::isnan(counts.interval(first, 1).value));
	EXPECT_FALSE(counts.counted(first, 1, period::interval));
	EXPECT_TRUE(counts.counted(first, 1, period::total));
	EXPECT_GE(counts.total({1, 0}, 1).value, 30e6);
}

// The only read, by which the driver finds it, is also the last one.
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
	std::vector<counter_at> all;

	for (uint32_t g = 0; g < backend_->groups.size(); g++)
		for (size_t c = 0; c < backend_->groups[g].cpus.size(); c++)
			all.push_back({{g, 0}, c});

	sum_set sums = counts.add_up(std::vector<std::vector<counter_at>>{all});
	const pmu_info &box = *plan_.groups[0].pmu;

	ASSERT_TRUE(counts.enable());
	backend_->files[mask_of(box)] = "";
	backend_->advance(10ms);
	EXPECT_FALSE(counts.read());
	// it answers on no package
	EXPECT_EQ(counts.news().size(), 2u);
	backend_->advance(10ms);
	EXPECT_TRUE(counts.read());
	EXPECT_EQ(counts.interval(sums, 0).value,
		  double(all.size() - 2) * counts.interval({1, 0}, 0).value);
}

TEST_F(counting, a_box_that_is_dead_at_the_start_is_left_out)
{
	auto groups = parse_events("imc_0/cas_count.rd/,imc_1/cas_count.rd/",
				   machine_);

	ASSERT_TRUE(groups);

	const pmu_info &in_mask = *groups->front().terms[0].events[0].pmu;
	const pmu_info &silent = *groups->back().terms[0].events[0].pmu;

	// one is no longer in the mask, one dies as it is opened
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
	planner made(machine_);
	auto groups = parse_events("imc_0/cas_count.rd/", machine_);

	ASSERT_TRUE(groups);
	ASSERT_TRUE(made.add(groups->front()));
	backend_->files[mask_of(*groups->front().terms[0].events[0].pmu)] = "";

	auto opened =
		open_session(std::move(made).finish(), machine_, {}, backend_);

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
	// reported once
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

	// none of them ticks, so the fault is not known
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

	backend_->read_after(10ms, counts);
	backend_->offline.insert(cpu);
	backend_->advance(6ms);
	// or its last read came late: both look alike
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
		within +=
			std::fabs(made.total().scaled() - truth) < made.error();
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
