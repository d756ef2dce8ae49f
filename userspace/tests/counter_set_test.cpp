// SPDX-License-Identifier: LGPL-2.1-or-later
// Test counter_set with a fake backend: values by box, package and machine, opening
// again after a failure, lost boxes, and unavailable metrics.
#include <gtest/gtest.h>

#include <cmath>

#include <uncore/counter_set.hpp>
#include <uncore/sampler.hpp>

#include "account.hpp"
#include "fake_backend.hpp"
#include "options.hpp"
#include "tree.hpp"

using namespace uncore;
using namespace std::chrono_literals;

namespace {

class counter_sets : public testing::Test {
protected:
	explicit counter_sets(const char *listing = "hswep")
		: recorded_(listing), counters_(recorded_.topology()),
		  backend_(std::make_shared<fake_backend>())
	{
	}

	result<void> open() { return open_counters(counters_, {}, backend_); }

	/// Open and enable the counters, let time pass, and read them.
	void count(std::chrono::nanoseconds time)
	{
		auto opened = open();

		ASSERT_TRUE(opened) << opened.error().message;
		ASSERT_TRUE(counters_.enable());
		backend_->read_after(time, counters_);
	}

	std::vector<counted_value> totals(scope where) const
	{
		return counters_.values(where, period::total);
	}

	void add_metrics(const char *names)
	{
		auto added = counters_.add_metrics(names);

		ASSERT_TRUE(added) << added.error().message;
	}

	void add_events(const char *list)
	{
		auto added = counters_.add_events(list);

		ASSERT_TRUE(added) << added.error().message;
	}

	tree recorded_;
	counter_set counters_;
	std::shared_ptr<fake_backend> backend_;
};

class counter_sets_in_tree : public counter_sets {
protected:
	counter_sets_in_tree() : counter_sets("intel-uncore") {}
};

} // namespace

TEST_F(counter_sets, values_by_box_package_and_machine)
{
	add_events("imc/cas_count.rd/");
	count(1000ns);

	const auto boxes = totals(scope::box);
	const auto packages = totals(scope::package);
	const auto all = totals(scope::machine);

	ASSERT_EQ(boxes.size(), 16u);
	EXPECT_EQ(boxes[0].pmu()->name, "hswep_imc_0");
	EXPECT_EQ(boxes[7].pmu()->name, "hswep_imc_7");
	EXPECT_EQ(boxes[7].package(), 0);
	EXPECT_EQ(boxes[8].package(), 1);
	EXPECT_EQ(boxes[8].raw(), 1000u);
	ASSERT_EQ(packages.size(), 2u);
	EXPECT_EQ(packages[1].package(), 1);
	EXPECT_EQ(packages[1].pmu(), nullptr);
	EXPECT_EQ(packages[1].raw(), 8000u);
	EXPECT_DOUBLE_EQ(packages[1].value(), 8000.0 * 64 / (1 << 20));
	EXPECT_EQ(packages[1].unit(), "MiB");
	ASSERT_EQ(all.size(), 1u);
	EXPECT_EQ(all[0].package(), -1);
	EXPECT_EQ(all[0].raw(), 16000u);
	EXPECT_EQ(all[0].enabled(), 16000ns);
	EXPECT_EQ(all[0].share(), 1);
	EXPECT_EQ(all[0].standard_error(), 0);
	EXPECT_EQ(all[0].metric(), nullptr);
	EXPECT_EQ(all[0].first_event()->pmu->name, "hswep_imc_0");
}

TEST_F(counter_sets, metrics_come_after_events_each_in_order_of_adding)
{
	add_metrics("mem_bw_reads");
	add_events("pcu/clockticks/,duration_time");
	add_metrics("mem_bw_writes");
	EXPECT_EQ(counters_.size(), 4u);
	count(1s);

	const auto all = totals(scope::machine);
	const char *const names[] = {"pcu/clockticks/", "duration_time",
				     "mem_bw_reads", "mem_bw_writes"};

	ASSERT_EQ(all.size(), 4u);
	for (size_t i = 0; i < all.size(); i++) {
		EXPECT_EQ(all[i].index(), i);
		EXPECT_EQ(all[i].name(), names[i]);
	}
	EXPECT_EQ(all[2].metric()->name, "mem_bw_reads");
	EXPECT_EQ(all[2].first_event(), nullptr);
}

TEST_F(counter_sets, duration_time_is_the_elapsed_time)
{
	add_events("{imc_0/dclk/,duration_time}");
	count(1500us);
	EXPECT_EQ(counters_.elapsed(period::total), 1500us);
	backend_->read_after(500us, counters_);
	EXPECT_EQ(counters_.elapsed(period::interval), 500us);
	EXPECT_EQ(counters_.elapsed(period::total), 2ms);
	for (const scope where : {scope::box, scope::package, scope::machine}) {
		const auto last = counters_.values(where, period::interval);

		ASSERT_FALSE(last.empty());
		EXPECT_EQ(last.back().name(), "duration_time");
		EXPECT_EQ(last.back().unit(), "ns");
		EXPECT_EQ(last.back().package(), -1);
		EXPECT_EQ(last.back().value(), 500e3);
		EXPECT_EQ(totals(where).back().raw(), 2000000u);
	}
}

TEST_F(counter_sets, opens_again_after_a_failure)
{
	add_events("imc/cas_count.rd/");
	add_metrics("mem_bw_reads");
	backend_->refusal = error{errc::system, "too many open files"};

	auto failed = open();

	ASSERT_FALSE(failed);
	EXPECT_EQ(failed.error().message, "too many open files");
	EXPECT_FALSE(counters_.is_open());

	// The counter_set still has the events and metrics, and more can be added.
	backend_ = std::make_shared<fake_backend>();
	add_events("pcu/clockticks/");
	count(1s);
	EXPECT_EQ(totals(scope::machine).size(), 3u);
	EXPECT_EQ(totals(scope::machine)[0].raw(), 16000000000u);
}

TEST_F(counter_sets, opens_again_after_close)
{
	add_events("imc_0/dclk/");
	add_metrics("mem_bw_reads");
	count(1s);
	counters_.close();
	EXPECT_FALSE(counters_.is_open());
	EXPECT_TRUE(totals(scope::machine).empty());
	EXPECT_EQ(counters_.elapsed(period::total), 0ns);
	backend_ = std::make_shared<fake_backend>();
	count(2s);
	ASSERT_EQ(totals(scope::machine).size(), 2u);
	EXPECT_EQ(totals(scope::machine)[0].raw(), 4000000000u);
}

/// A box that does not answer when the counters are opened.
TEST_F(counter_sets, boxes_that_are_missing_have_reasons)
{
	const int cpu =
		counters_.machine().match("imc_2").front()->cpus.front();

	add_events("imc/cas_count.rd/");
	add_metrics("mem_bw_reads");
	backend_->silent.insert({"hswep_imc_2", cpu});
	count(1s);

	const auto boxes = totals(scope::box);
	const auto all = totals(scope::machine);

	ASSERT_GE(boxes.size(), 16u);
	EXPECT_EQ(boxes[1].reason(), "");
	EXPECT_EQ(boxes[2].pmu()->name, "hswep_imc_2");
	EXPECT_TRUE(std::isnan(boxes[2].value()));
	EXPECT_NE(boxes[2].reason().find("hswep_imc_2"), std::string::npos);
	ASSERT_EQ(all.size(), 2u);
	EXPECT_EQ(all[0].raw(), 15000000000u);
	EXPECT_EQ(all[0].reason(), boxes[2].reason());
	EXPECT_EQ(all[1].reason(), boxes[2].reason());
	EXPECT_EQ(counters_.news().size(), 1u);
	EXPECT_TRUE(counters_.news().empty());
}

/// A dead box is not an error: a program that ends at an error continues with the other
/// boxes.
TEST_F(counter_sets, a_box_that_dies_is_news_and_no_error)
{
	const auto kill = [&](const char *name) {
		const pmu_info &box = *counters_.machine().match(name).front();

		backend_->files[box.folder / "cpumask"] = "";
		backend_->advance(1s);
	};

	add_events("imc_0/cas_count.rd/,imc_1/cas_count.rd/");
	count(1s);
	EXPECT_TRUE(counters_.news().empty());
	kill("imc_0");
	EXPECT_TRUE(counters_.sample());
	EXPECT_TRUE(counters_.read());

	const auto news = counters_.news(); // a line for each socket
	const auto boxes = totals(scope::box);

	ASSERT_EQ(news.size(), 2u);
	EXPECT_NE(news[0].find("hswep_imc_0"), std::string::npos);
	ASSERT_EQ(boxes.size(), 4u);
	EXPECT_NE(boxes[0].reason().find("hswep_imc_0"), std::string::npos);
	EXPECT_EQ(boxes[2].pmu()->name, "hswep_imc_1");
	EXPECT_EQ(boxes[2].reason(), "");
	EXPECT_GE(boxes[2].raw(), 2000000000u);
}

TEST_F(counter_sets, reading_fails_once_no_box_is_left)
{
	const pmu_info &box = *counters_.machine().match("imc_0").front();

	add_events("imc_0/cas_count.rd/");
	count(1s);
	backend_->files[box.folder / "cpumask"] = "";
	for (int i = 0; i < 2; i++) {
		backend_->advance(1s);

		const auto outcome = counters_.read();

		ASSERT_FALSE(outcome);
		EXPECT_EQ(outcome.error().code, errc::gone);
		EXPECT_NE(outcome.error().message.find("hswep_imc_0"),
			  std::string::npos)
			<< outcome.error().message;
		EXPECT_EQ(counters_.news().size(), i ? 0u : 2u);
	}
	EXPECT_FALSE(counters_.sample());
	EXPECT_EQ(totals(scope::machine)[0].raw(), 4000000000u);
}

TEST_F(counter_sets, sampling_keeps_the_interval)
{
	add_events("imc_0/dclk/,duration_time");
	count(1s);
	backend_->advance(1s);
	ASSERT_TRUE(counters_.sample());
	backend_->read_after(1s, counters_);
	EXPECT_EQ(counters_.elapsed(period::interval), 2s);
	EXPECT_EQ(counters_.values(scope::machine, period::interval)[0].raw(),
		  4000000000u);
	EXPECT_EQ(counters_.sample_time(), 0s);
	counters_.close();
	EXPECT_EQ(counters_.sample().error().code, errc::misuse);
	EXPECT_TRUE(counters_.news().empty());
}

TEST_F(counter_sets, bad_input_changes_nothing)
{
	add_events("imc_0/dclk/");
	EXPECT_EQ(
		counters_.add_events("imc_1/dclk/,imc_1/no_such/").error().code,
		errc::not_found);
	EXPECT_EQ(counters_
			  .add_events("imc_1/dclk/,"
				      "{imc_0/cas_count.rd/,imc_1/dclk/}")
			  .error()
			  .code,
		  errc::conflict);

	auto failed = counters_.add_metrics("mem_bw_reads,mem_bw_raeds");

	ASSERT_FALSE(failed);
	EXPECT_EQ(failed.error().message.find('\n'), std::string::npos);
	EXPECT_NE(failed.error().message.find("mem_bw_reads"),
		  std::string::npos);
	EXPECT_EQ(counters_.size(), 1u);
	count(1s);
	EXPECT_EQ(backend_->groups.size(), 1u);
	EXPECT_EQ(totals(scope::box).size(), 2u);
}

TEST_F(counter_sets, parsed_events_and_single_metrics)
{
	const topology &machine = counters_.machine();
	const metric_info *reads =
		catalogue::of(machine).metric("mem_bw_reads");
	const auto parsed = parse_events("imc_0/dclk/,duration_time", machine);

	ASSERT_TRUE(parsed);
	ASSERT_TRUE(counters_.add_events(*parsed));
	ASSERT_TRUE(counters_.add_metric(*reads));
	count(1s);

	const auto all = totals(scope::machine);

	ASSERT_EQ(all.size(), 3u);
	EXPECT_EQ(all[0].name(), "imc_0/dclk/");
	EXPECT_EQ(all[0].raw(), 2000000000u);
	EXPECT_EQ(all[1].raw(), 1000000000u);
	EXPECT_EQ(all[2].metric(), reads);
	EXPECT_EQ(counters_.add_events(*parsed).error().code, errc::misuse);
	EXPECT_EQ(counters_.add_metric(*reads).error().code, errc::misuse);
}

TEST_F(counter_sets, time_that_multiplexed_events_ran)
{
	add_events("imc_0/dclk/");
	ASSERT_TRUE(open());
	ASSERT_TRUE(counters_.enable());
	backend_->groups[0].share = 0.25;
	backend_->read_after(1s, counters_);

	const counted_value all = totals(scope::machine)[0];

	EXPECT_EQ(all.enabled(), 2s);
	EXPECT_EQ(all.running(), 500ms);
	EXPECT_EQ(all.share(), 0.25);
}

TEST_F(counter_sets, turns_before_opening)
{
	EXPECT_EQ(counters_.turns(), 1u);
	for (int event = 1; event <= 4; event++)
		add_events(("hswep_pcu/event=" + std::to_string(event) + "/")
				   .c_str());
	EXPECT_EQ(counters_.turns(), 1u);
	add_events("hswep_pcu/event=5/");
	EXPECT_EQ(counters_.turns(), 2u);
}

TEST_F(counter_sets, metrics_by_the_names_that_perf_has)
{
	const auto metrics = find_metrics(counters_.machine(),
					  "dram_bw_use,IO_Bandwidth_Read");

	ASSERT_TRUE(metrics);
	ASSERT_EQ(metrics->size(), 2u);
	EXPECT_EQ((*metrics)[0]->name, "mem_bw_total_rate");
	EXPECT_EQ((*metrics)[1]->name, "io_write_bw_rate");
}

TEST_F(counter_sets, order_of_calls)
{
	EXPECT_EQ(open().error().code, errc::misuse);
	EXPECT_EQ(counters_.enable().error().code, errc::misuse);
	EXPECT_EQ(counters_.disable().error().code, errc::misuse);
	EXPECT_EQ(counters_.read().error().code, errc::misuse);
	add_events("imc_0/dclk/");
	count(1s);
	EXPECT_EQ(open().error().code, errc::misuse);
	EXPECT_EQ(counters_.add_events("imc_1/dclk/").error().code,
		  errc::misuse);
	EXPECT_EQ(counters_.add_metrics("mem_bw_reads").error().code,
		  errc::misuse);
	ASSERT_TRUE(counters_.disable());
	EXPECT_EQ(totals(scope::box).size(), 2u);
}

TEST_F(counter_sets_in_tree, metrics_that_the_machine_lacks_have_reasons)
{
	add_metrics("qpi,mem_bw_reads");

	const auto lacking = counters_.unavailable();

	ASSERT_FALSE(lacking.empty());
	for (const unavailable_metric &metric : lacking) {
		auto checked =
			check_available(metric.info(), counters_.machine());

		ASSERT_FALSE(checked) << metric.info().name;
		EXPECT_EQ(metric.reason(), checked.error().message);
	}

	const auto qpi = find_metrics(counters_.machine(), "QPI");

	ASSERT_TRUE(qpi);
	for (const metric_info *info : *qpi)
		EXPECT_EQ(std::count_if(lacking.begin(), lacking.end(),
					[&](const auto &metric) {
						return &metric.info() == info;
					}),
			  !check_available(*info, counters_.machine()));

	// An unavailable metric is an error if it is added by its own name.
	const auto refused = counters_.add_metrics(lacking[0].info().name);

	ASSERT_FALSE(refused);
	EXPECT_EQ(refused.error().message, lacking[0].reason());

	const size_t before = counters_.size();

	EXPECT_EQ(counters_.add_metric(lacking[0].info()).error().message,
		  lacking[0].reason());
	EXPECT_EQ(counters_.size(), before);
}

TEST_F(counter_sets_in_tree, events_that_the_driver_counts_wrongly)
{
	const catalogue &known = catalogue::of(counters_.machine());

	EXPECT_TRUE(check_available(*known.event("imc", "cas_count.rd"),
				    counters_.machine()));
	EXPECT_EQ(check_available(*known.event("sbox", "clockticks"),
				  counters_.machine())
			  .error()
			  .code,
		  errc::unsupported);
}

TEST(options, members_that_a_program_does_not_know_have_defaults)
{
	sampling_options given;

	given.period = 5;
	given.pages = 1;
	given.size = offsetof(sampling_options, pages);

	const sampling_options complete = complete_options(given);

	EXPECT_EQ(complete.period, 5u);
	EXPECT_EQ(complete.pages, 128u);
	EXPECT_EQ(complete.size, sizeof(sampling_options));
	// The structure of a program for a later version has more members.
	given.size = sizeof(sampling_options) + 8;
	EXPECT_EQ(complete_options(given).pages, 1u);
}

TEST_F(counter_sets, accounts_have_the_counts_of_their_own_time_and_packages)
{
	account first, second;

	add_events("imc/cas_count.rd/,duration_time");
	add_metrics("mem_bw_reads_rate");
	count(100us);
	// 8 channels of each package count once a nanosecond.
	backend_->advance(1000us);
	ASSERT_TRUE(counters_.sample());
	EXPECT_EQ(charge_account(counters_, first, 0), 1000us);
	backend_->advance(10us);
	ASSERT_TRUE(counters_.sample());
	EXPECT_EQ(charge_account(counters_, first, 0), 10us);
	charge_account(counters_, second, 0);
	charge_account(counters_, second, 1);
	backend_->advance(5us);
	ASSERT_TRUE(counters_.read());

	show_account(counters_, first, 1010us);

	auto values = counters_.values(scope::package, period::interval);

	ASSERT_EQ(values.size(), 5u);
	EXPECT_EQ(values[0].raw(), 8u * 1010000);
	EXPECT_EQ(values[0].standard_error(), 0);
	EXPECT_EQ(values[0].enabled(), 8 * 1010us);
	EXPECT_EQ(values[1].raw(), 0u);
	EXPECT_EQ(values[2].value(), 1010e3);
	EXPECT_EQ(values[3].package(), 0);
	EXPECT_NEAR(values[3].value(), 8 * 64 / 1.073741824, 1e-6);

	show_account(counters_, second, 10us);
	values = counters_.values(scope::package, period::interval);
	EXPECT_EQ(values[0].raw(), 80000u);
	EXPECT_EQ(values[1].raw(), 80000u);
	EXPECT_EQ(counters_.elapsed(period::interval), 10us);

	// The total has all of the time.
	EXPECT_EQ(totals(scope::machine)[0].raw(), 16u * 1115000);
}

TEST_F(counter_sets, a_multiplexed_account_is_scaled_with_an_unknown_error)
{
	account part, unseen;

	add_events("imc_0/cas_count.rd/");
	ASSERT_TRUE(open());
	ASSERT_TRUE(counters_.enable());
	backend_->groups[0].share = 0.25;
	for (int i = 0; i < 4; i++) {
		backend_->advance(1ms);
		ASSERT_TRUE(counters_.sample());
		charge_account(counters_, part, 0);
	}
	backend_->groups[0].share = 0;
	backend_->advance(1ms);
	ASSERT_TRUE(counters_.sample());
	charge_account(counters_, unseen, 0);

	show_account(counters_, part, 4ms);
	auto value = counters_.values(scope::package, period::interval)[0];
	EXPECT_EQ(value.raw(), 1000000u);
	EXPECT_DOUBLE_EQ(value.value(), 4e6 * 64 / (1 << 20));
	EXPECT_EQ(value.share(), 0.25);
	EXPECT_TRUE(std::isnan(value.standard_error()));

	show_account(counters_, unseen, 1ms);
	value = counters_.values(scope::package, period::interval)[0];
	EXPECT_TRUE(std::isnan(value.value()));
}
