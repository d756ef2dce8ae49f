// SPDX-License-Identifier: LGPL-2.1-or-later
// Test counts and metrics of multiplexed events. Runs begin at random times of
// changing traffic. At least 60 % of the values must be within their standard error
// of the true value, and no value may be impossible.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <random>

#include "fake_backend.hpp"
#include "metric.hpp"
#include "tree.hpp"

using namespace uncore;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

constexpr nanoseconds turn = 4ms, slice = 2ms;
constexpr int runs = 100;
constexpr unsigned seed = 7;

constexpr const char *names[] = {
	"llc_drd_miss_pct", "avg_tor_drd_hit_latency", "avg_tor_drd_latency",
	"avg_tor_drd_miss_latency", "llc_rfo_miss_pct"};

/// The traffic at some time, from which the counts of a CBo's events follow.
struct causes {
	double reads;  ///< data reads a nanosecond
	double misses; ///< part of the reads that miss the cache
	double hit_time, miss_time; ///< cycles of a read in the queue
};

class rotating : public testing::Test {
protected:
	rotating() : recorded_("hswep")
	{
		// One box is enough: all boxes have the same traffic.
		for (int box = 1; box < 18; box++)
			std::filesystem::remove_all(
				recorded_.path() / devices /
				("hswep_cbox_" + std::to_string(box)));
		machine_.emplace(recorded_.topology());
	}

	causes at(nanoseconds time)
	{
		return random_ends_ ? burst_at(time) : wave_at(time);
	}

	/// Traffic with phases of some seconds and bursts of some milliseconds.
	causes wave_at(nanoseconds time)
	{
		const double s =
			std::chrono::duration<double>(time).count() + began_;
		const double slow =
			std::sin(2 * std::numbers::pi * s / 3.1) / 2 + 0.5;
		const double fast = std::sin(2 * std::numbers::pi * s / 0.037);

		return {(0.01 + 0.04 * slow) * (1 + 0.3 * fast) *
				std::exp(0.3 * burst_(random_)),
			0.05 + 0.5 * slow, 45, 180 + 60 * slow};
	}

	/// Traffic with phases of random length, each with bursts and gaps of random
	/// length.
	causes burst_at(nanoseconds time)
	{
		for (; time >= phase_ends_; phase_ends_ += length(500)) {
			phase_ = {between(0.005, 0.05), between(0.05, 0.6), 45,
				  between(180, 260)};
			mean_ = between(shortest_, longest_);
		}
		for (; time >= burst_ends_; burst_ends_ += length(mean_))
			level_ = level_ < 1 ? 1 : 0.05;

		causes now = phase_;

		now.reads *= is_idle_ ? 0 : level_;
		return now;
	}

	double between(double low, double high)
	{
		return std::uniform_real_distribution<double>(low,
							      high)(random_);
	}
	nanoseconds length(double mean_ms)
	{
		return nanoseconds(int64_t(
			1e6 * mean_ms *
			std::exponential_distribution<double>()(random_)));
	}

	/// The counts a nanosecond of an event.
	static double rate(const event &e, const causes &c)
	{
		auto has = [&](const char *part) {
			return e.text.find(part) != e.text.npos;
		};

		if (has("clockticks"))
			return 2.5;
		if (has("llc_lookup.data_read"))
			return has("filter_state=0x1,") ||
					       has("filter_state=0x1/")
				       ? c.reads * c.misses
				       : c.reads;
		if (!has("tor_"))
			return c.reads;

		// Reads for ownership (opcode 0x180) are a fifth of the data reads;
		// a single thread (tid_en) has a tenth.
		const double all = c.reads * (has("0x180") ? 0.2 : 1) *
				   (has("tid_en") ? 0.1 : 1);
		const double misses = all * c.misses;
		const double hits = has("miss_") ? 0 : all - misses;

		if (has("tor_occupancy"))
			return hits * c.hit_time + misses * c.miss_time;
		return hits + misses;
	}

	/// Prepare the metrics that names[] lists. @return an empty list after a failure.
	std::vector<metric> prepare_metrics(planner &events)
	{
		std::vector<metric> metrics;

		for (const char *name : names) {
			auto ready = metric::prepare(
				*catalogue::of(*machine_).metric(name),
				*machine_, events);

			if (!ready) {
				ADD_FAILURE() << ready.error().message;
				return {};
			}
			metrics.push_back(*std::move(ready));
		}
		return metrics;
	}

	/// Let time pass, with samples when sample_time() is over, and a read at the end.
	/// The groups of a PMU are multiplexed in the order of opening, each for a turn.
	void pass(session &counts, nanoseconds time)
	{
		const nanoseconds end = passed_ + time;
		nanoseconds next = passed_ + 5ms;

		for (; passed_ < end; passed_ += slice) {
			const causes now = at(passed_);
			std::map<const pmu_info *, std::vector<size_t>> groups_of;

			for (size_t g = 0; g < backend_->groups.size(); g++)
				groups_of[backend_->groups[g].members[0].pmu]
					.push_back(g);
			for (auto &[pmu, groups] : groups_of)
				for (size_t i = 0; i < groups.size(); i++) {
					auto &group =
						backend_->groups[groups[i]];

					group.share = (passed_ / turn) %
							      groups.size() ==
						      i;
					group.rates.clear();
					for (const event &e : group.members) {
						const double each =
							rate(e, now);

						group.rates.push_back(each);
						truth_[e.text].add(each,
								   passed_);
					}
				}
			truth(now);
			backend_->advance(slice);
			if (passed_ + slice < next)
				continue;
			EXPECT_TRUE(counts.sample());
			next = passed_ + slice +
			       std::max<nanoseconds>(counts.sample_time(), 5ms);
		}
		EXPECT_TRUE(counts.read());
	}

	/// An event's true count since start(), and its highest rate. An event that is in
	/// several groups is added once for each time slice.
	struct true_count {
		double value = 0, peak = 0;
		nanoseconds last{-1};

		void add(double each, nanoseconds now)
		{
			if (std::exchange(last, now) == now)
				return;
			value += each * double(slice.count());
			peak = std::max(peak, each);
		}
	};

	/// Begin to count the true values of an interval.
	void start()
	{
		reads_ = misses_ = hit_time_ = miss_time_ = 0;
		truth_.clear();
	}

	/// Add a time slice to the true values.
	void truth(const causes &c)
	{
		reads_ += c.reads;
		misses_ += c.reads * c.misses;
		hit_time_ += c.reads * (1 - c.misses) * c.hit_time;
		miss_time_ += c.reads * c.misses * c.miss_time;
	}

	tree recorded_;
	std::optional<topology> machine_;
	std::shared_ptr<fake_backend> backend_;
	std::mt19937_64 random_{seed};
	std::normal_distribution<double> burst_;
	double began_ = 0;
	nanoseconds passed_{};
	bool random_ends_ = false, is_idle_ = false;
	nanoseconds phase_ends_{}, burst_ends_{};
	causes phase_{};
	double shortest_ = 20, longest_ = 400, mean_ = 0, level_ = 1;
	std::map<std::string, true_count> truth_;
	double reads_ = 0, misses_ = 0, hit_time_ = 0, miss_time_ = 0;
};

} // namespace

TEST_F(rotating, the_stated_error_is_honest)
{
	std::array<int, std::size(names)> given{}, within{};
	std::uniform_real_distribution<double> phase(0, 100);

	for (int run = 0; run < runs; run++) {
		planner planner(*machine_);
		std::vector<metric> metrics = prepare_metrics(planner);

		ASSERT_EQ(metrics.size(), std::size(names));
		backend_ = std::make_shared<fake_backend>();

		auto counts = open_session(std::move(planner).finish(),
					   *machine_, {}, backend_);

		ASSERT_TRUE(counts);
		for (metric &m : metrics)
			m.watch(*counts, scope::machine);
		ASSERT_TRUE(counts->enable());
		began_ = phase(random_);
		passed_ = {};
		start();
		pass(*counts, 1s);

		const double want[] = {
			100 * misses_ / reads_, hit_time_ / (reads_ - misses_),
			(hit_time_ + miss_time_) / reads_, miss_time_ / misses_,
			100 * misses_ / reads_};

		for (size_t i = 0; i < metrics.size(); i++) {
			const metric_info &info = metrics[i].info();
			const metric_value got = metrics[i].evaluate(
				*counts, period::total, scope::machine)[0];

			ASSERT_LT(got.share, 1) << names[i];
			if (std::isnan(got.value)) {
				EXPECT_FALSE(got.reason.empty());
				continue;
			}
			given[i]++;
			EXPECT_GE(got.value, info.low) << names[i];
			EXPECT_LE(got.value, info.high) << names[i];
			EXPECT_GT(got.error, 0) << names[i];
			EXPECT_LE(got.error, got.value) << names[i];
			within[i] +=
				std::fabs(got.value - want[i]) <= got.error;
		}
	}
	for (size_t i = 0; i < within.size(); i++) {
		EXPECT_GT(given[i], runs / 2) << names[i];
		EXPECT_GE(within[i], given[i] * 60 / 100) << names[i];
		RecordProperty(names[i], within[i]);
		printf("%s: %d of %d\n", names[i], within[i], given[i]);
	}
}

class random_traffic : public rotating {
protected:
	random_traffic() { random_ends_ = true; }

	/// Number of values that have an error, and of values within their error of the
	/// true value.
	struct coverage {
		int given = 0, within = 0;

		void add(double value, double error, double want)
		{
			given++;
			within += std::fabs(value - want) <= error;
		}
	};

	/// Check that the counts of the last interval are possible, and note how many are
	/// within their error.
	void check_counts(const session &counts, const plan &plan)
	{
		for (uint32_t g = 0; g < plan.groups.size(); g++)
			for (uint32_t m = 0; m < plan.groups[g].members.size();
			     m++) {
				const std::string &text =
					plan.groups[g].members[m].text;
				const count got = counts.interval({g, m}, 0);
				const true_count &want = truth_[text];
				// A read rounds a count by up to 1.
				const double rounded =
					double(plan.turns) / got.share();

				EXPECT_LT(got.share(), 1) << text;
				EXPECT_GE(got.value, 0) << text;
				EXPECT_LE(got.value,
					  want.peak * double(interval.count()) +
						  rounded)
					<< text;
				if (!std::isnan(got.error))
					seen_[text].add(got.value, got.error,
							want.value);
			}
	}

	/// Check the metrics of the last interval in the same way.
	void check_metrics(const session &counts,
			   const std::vector<metric> &metrics)
	{
		const double want[] = {
			100 * misses_ / reads_, hit_time_ / (reads_ - misses_),
			(hit_time_ + miss_time_) / reads_, miss_time_ / misses_,
			100 * misses_ / reads_};

		for (size_t i = 0; i < metrics.size(); i++) {
			const metric_info &info = metrics[i].info();
			const metric_value got = metrics[i].evaluate(
				counts, period::interval, scope::machine)[0];
			const bool is_latency = info.unit == "cycles";

			if (std::isnan(got.value)) {
				EXPECT_FALSE(got.reason.empty()) << names[i];
				continue;
			}
			// A request is in the queue for at least one cycle.
			EXPECT_GE(got.value, is_latency ? 1 : info.low)
				<< names[i];
			EXPECT_LE(got.value, info.high) << names[i];
			if (!std::isnan(got.error))
				seen_[names[i]].add(got.value, got.error,
						    want[i]);
		}
	}

	/// Count a run of several intervals, and check each interval.
	void count_run()
	{
		planner planner(*machine_);
		std::vector<metric> metrics = prepare_metrics(planner);

		ASSERT_EQ(metrics.size(), std::size(names));

		const plan plan = std::move(planner).finish();

		backend_ = std::make_shared<fake_backend>();

		auto counts = open_session(plan, *machine_, {}, backend_);

		ASSERT_TRUE(counts);
		for (metric &m : metrics)
			m.watch(*counts, scope::machine);
		ASSERT_TRUE(counts->enable());
		passed_ = phase_ends_ = burst_ends_ = {};
		for (int i = 0; i < intervals; i++) {
			start();
			pass(*counts, interval);
			check_counts(*counts, plan);
			check_metrics(*counts, metrics);
		}
	}

	/// Count all runs, and check how many values are within their error. The mean
	/// length of bursts is in the given range of milliseconds.
	void check_coverage(double shortest, double longest)
	{
		shortest_ = shortest;
		longest_ = longest;
		printf("seed %u\n", seed);
		for (int run = 0; run < runs; run++)
			count_run();
		for (const auto &[name, values] : seen_) {
			EXPECT_GT(values.given, runs) << name;
			EXPECT_GE(values.within, values.given * 60 / 100)
				<< name;
			printf("%s: %d of %d\n", name.c_str(), values.within,
			       values.given);
		}
	}

	static constexpr int intervals = 4;
	static constexpr nanoseconds interval = 250ms;
	std::map<std::string, coverage> seen_;
};

TEST_F(random_traffic, the_error_of_long_bursts_is_honest)
{
	check_coverage(20, 400);
}

TEST_F(random_traffic, the_error_of_short_bursts_is_honest)
{
	check_coverage(2, 20);
}

TEST_F(random_traffic, metrics_without_traffic_have_a_reason)
{
	is_idle_ = true;
	count_run();
	for (const char *name : names)
		EXPECT_EQ(seen_[name].given, 0) << name;
}

TEST_F(rotating, parts_of_a_metric_follow_one_another)
{
	planner planner(*machine_);

	for (const char *name :
	     {"llc_drd_miss_pct", "avg_tor_drd_hit_latency", "llc_rfo_miss_pct",
	      "avg_tor_drd_rem_miss_latency", "avg_ingress_latency_when_ne"})
		ASSERT_TRUE(
			metric::prepare(*catalogue::of(*machine_).metric(name),
					*machine_, planner));

	const plan plan = std::move(planner).finish();
	std::vector<size_t> turn_of(plan.groups.size());

	ASSERT_EQ(plan.order.size(), plan.groups.size());
	for (size_t i = 0; i < plan.order.size(); i++)
		turn_of[plan.order[i]] = i;
	EXPECT_EQ(plan.turns, plan.groups.size());

	auto group_of = [&](const char *part) {
		for (size_t g = 0; g < plan.groups.size(); g++)
			for (const event &e : plan.groups[g].members)
				if (e.text.find(part) != e.text.npos)
					return g;
		ADD_FAILURE() << part;
		return size_t(0);
	};

	// The two occupancies of the hit latency are counted in successive turns.
	const size_t apart =
		turn_of[group_of("tor_occupancy.opcode,filter_opc=0x182")] >
				turn_of[group_of("tor_occupancy.miss_opcode,"
						 "filter_opc=0x182")]
			? turn_of[group_of("tor_occupancy.opcode,"
					   "filter_opc=0x182")] -
				  turn_of[group_of("tor_occupancy.miss_opcode,"
						   "filter_opc=0x182")]
			: turn_of[group_of("tor_occupancy.miss_opcode,"
					   "filter_opc=0x182")] -
				  turn_of[group_of("tor_occupancy.opcode,"
						   "filter_opc=0x182")];

	EXPECT_TRUE(apart == 1 || apart == plan.groups.size() - 1);
}
