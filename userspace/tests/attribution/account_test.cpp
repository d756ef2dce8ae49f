// SPDX-License-Identifier: GPL-2.0-or-later
// bpf/account.h, the same text that runs in the kernel, against a model that
// does everything the long way: random machines, schedules and reads.
#include <array>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <linux/types.h>

#include "attribution.h"

namespace {

unsigned n_columns;
std::array<attr_package, ATTR_MAX_PACKAGES> packages;
std::array<attr_cpu, ATTR_MAX_CPUS> cpus;
std::array<std::array<attr_window, 2>, ATTR_MAX_PACKAGES> windows;

template <class F> void repeat(__u32 n, __u32 most, F *step, __u32 package)
{
	for (__u32 i = 0; i < n && i < most; i++)
		if (step(i, &package))
			break;
}

#define REPEATED(step)
#undef __always_inline
#define __always_inline inline
#define __noinline
#include "account.h"

using key_tuple = std::tuple<__u64, __u64, __u32>;
__extension__ typedef unsigned __int128 wide;

std::map<key_tuple, attr_share> shares;

attr_share *share_of(attr_package *, const attr_key *key)
{
	return &shares[{key->start_time, key->cgroup, key->pid}];
}

wide value(attr_number n)
{
	return (static_cast<wide>(n.whole) << 64) + n.fraction;
}

// --- weights

/// A task that had its CPU for long before it was first measured.
TEST(weights, first_rate_of_a_long_time_slice)
{
	const attr_rate mean{4000000000, 1000000000};

	for (__u64 seconds : {1, 6, 60, 3600}) {
		const attr_rate grown{mean.measured * seconds,
				      mean.ns * seconds};
		attr_rate first{0, 0};

		rate_add(&first, &grown, TASK_MEMORY_NS);
		EXPECT_LE(first.ns, __u64(TASK_MEMORY_NS));
		EXPECT_NEAR(double(weight_of(&mean, &first)), MEAN_WEIGHT, 1)
			<< seconds;

		const attr_rate twice{2 * grown.measured, grown.ns};
		attr_rate fast{0, 0};

		rate_add(&fast, &twice, TASK_MEMORY_NS);
		EXPECT_NEAR(double(weight_of(&mean, &fast)), 2 * MEAN_WEIGHT,
			    1);
	}
	EXPECT_EQ(weight_of(&mean, nullptr), __u64(MEAN_WEIGHT));
}

// --- arithmetic

class arithmetic : public testing::Test {
protected:
	/// Of all sizes, and with all bits set or none.
	__u64 any()
	{
		__u64 v = random_() >> (random_() % 64);

		switch (random_() % 8) {
		case 0:
			return ~0ULL;
		case 1:
			return 0;
		case 2:
			return ~v;
		default:
			return v;
		}
	}

	std::mt19937_64 random_{1};
};

TEST_F(arithmetic, is_that_of_128_bits)
{
	for (int i = 0; i < 200000; i++) {
		attr_number a{any(), any()}, b{any(), any()}, sum = a;
		__u64 by = any();

		number_add(&sum, b);
		ASSERT_EQ(value(sum), value(a) + value(b));
		ASSERT_EQ(value(number_minus(a, b)), value(a) - value(b));
		ASSERT_EQ(value(number_times(a, by)), value(a) * by);
		ASSERT_EQ(multiply_high(a.whole, by),
			  static_cast<__u64>(
				  static_cast<wide>(a.whole) * by >> 64));
	}
}

TEST_F(arithmetic, a_quotient_is_exact_or_a_little_less)
{
	for (int i = 0; i < 200000; i++) {
		attr_number a{any(), any()};
		__u64 by = any() >> 1;

		if (!by)
			by = 1;
		wide exact = value(a) / by, got = value(number_over(a, by));

		if (by >> 48) {
			ASSERT_LE(got, exact);
			ASSERT_LE(exact - got, (exact >> 31) + 1);
		} else {
			ASSERT_EQ(got, exact);
		}
	}
}

// --- random schedules

/// What a machine did, the long way.
class model {
public:
	struct stretch {
		key_tuple who;
		__u64 from, to, weight;
	};

	void ran(key_tuple who, __u64 from, __u64 to, __u64 weight)
	{
		if (to > from)
			stretches_.push_back({who, from, to, weight});
	}

	/// A window ends; @p running have not left yet.
	void end(const std::vector<__u64> &delta,
		 const std::vector<stretch> &running, bool idle_now)
	{
		std::vector<stretch> all = stretches_;
		long double total = 0;

		all.insert(all.end(), running.begin(), running.end());
		for (const auto &s : all)
			total += static_cast<long double>(s.to - s.from) *
				 s.weight;
		for (size_t c = 0; c < delta.size(); c++) {
			seen[c] += delta[c];
			if (total <= 0) {
				(idle_now ? idle : late)[c] += delta[c];
				continue;
			}
			for (const auto &s : all) {
				auto &got = shares[s.who];

				got.resize(delta.size());
				got[c] += (delta[c] + late[c]) *
					  ((s.to - s.from) * s.weight / total);
			}
			late[c] = 0;
		}
		stretches_.clear();
	}

	std::array<long double, ATTR_MAX_COLUMNS> idle{}, late{};
	std::array<__u64, ATTR_MAX_COLUMNS> seen{};
	std::map<key_tuple, std::vector<long double>> shares;

private:
	std::vector<stretch> stretches_;
};

struct shape {
	const char *name;
	unsigned n_cpus, n_tasks, n_columns;
	__u64 max_weight, max_step, max_delta;
	unsigned read_percent; ///< of switches at which counters are read
};

void PrintTo(const shape &s, std::ostream *out)
{
	*out << s.name;
}

class schedules : public testing::TestWithParam<shape> {
protected:
	static constexpr __u32 package = 3;

	void SetUp() override
	{
		n_columns = GetParam().n_columns;
		packages = {};
		cpus = {};
		windows = {};
		shares.clear();
		for (auto &cpu : cpus)
			cpu.package = package;
		running_.assign(GetParam().n_cpus, {});
	}

	__u64 below(__u64 n) { return n ? random_() % n : 0; }

	/// A CPU switches to a task that no other has, or to its idle one.
	attr_task choose(unsigned cpu)
	{
		attr_task next{};
		__u32 pid = 1 + below(GetParam().n_tasks);

		for (unsigned other = 0; other < GetParam().n_cpus; other++)
			if (other != cpu && cpus[other].pid == pid)
				pid = 0;
		if (pid && below(4)) {
			next.pid = next.tgid = pid;
			next.start_time = 1000 + pid;
			next.cgroup = 7;
			std::snprintf(next.comm, sizeof(next.comm), "t%u", pid);
		}
		return next;
	}

	std::vector<model::stretch> still_running()
	{
		std::vector<model::stretch> all;

		for (unsigned cpu = 0; cpu < GetParam().n_cpus; cpu++) {
			auto &r = running_[cpu];

			if (!std::get<2>(r.who))
				continue;
			all.push_back({r.who, std::max(r.from, opened_), time_,
				       r.weight});
		}
		return all;
	}

	void end(const std::vector<__u64> &delta)
	{
		attr_package &p = packages[package];

		std::copy(delta.begin(), delta.end(),
			  window_of(package, p.window)->delta);
		end_window(&p, package);
	}

	void read()
	{
		std::vector<__u64> delta(n_columns);

		for (auto &d : delta)
			d = below(3) ? below(GetParam().max_delta) : 0;
		plain_.end(delta, still_running(), !packages[package].weight);
		end(delta);
		opened_ = time_;
	}

	void step(unsigned cpu)
	{
		attr_package &p = packages[package];
		attr_cpu &c = cpus[cpu];
		auto &was = running_[cpu];
		attr_task next = choose(cpu);
		attr_key key{c.start_time, c.cgroup, c.pid, package};
		__u64 weight = 1 + below(GetParam().max_weight);

		time_ += below(10) ? below(GetParam().max_step) : 0;
		advance(&p, time_);
		ASSERT_EQ(p.clock, time_) << "no time is left out here";
		if (below(100) < GetParam().read_percent ||
		    windows[package][p.window & 1].used >=
			    ATTR_WINDOW_CROWD)
			read();
		if (std::get<2>(was.who))
			plain_.ran(was.who, std::max(was.from, opened_), time_,
				   was.weight);
		was = {{next.start_time, next.cgroup, next.pid}, time_, weight};
		switch_tasks(&p, &c, cpu, &key, nullptr, &next, weight);
		for (int i = 0; i < SLICES_A_SWITCH; i++)
			charge_slice(0, &one_);
	}

	/// As the program that closes an account does.
	void settle_all()
	{
		repeat(ATTR_WINDOW_TASKS + 1, ATTR_WINDOW_TASKS + 1, charge_slice, one_);
		for (unsigned cpu = 0; cpu < GetParam().n_cpus; cpu++) {
			attr_cpu &c = cpus[cpu];
			attr_key key{c.start_time, c.cgroup, c.pid, package};
			attr_package &p = packages[package];

			if (c.watched && c.pid && c.since < p.opened)
				settle(&p, &c, share_of(&p, &key));
		}
	}

	void check()
	{
		const attr_package &p = packages[package];

		for (unsigned column = 0; column < n_columns; column++) {
			wide sum = value(p.now.remainder[column]) +
				   value({p.now.idle[column], 0}) +
				   value(p.dropped[0].count[column]);

			for (const auto &[who, share] : shares)
				sum += value(share.count[column]);
			ASSERT_EQ(sum, value({plain_.seen[column], 0}));
			ASSERT_EQ(p.now.idle[column],
				  static_cast<__u64>(plain_.idle[column]));
			compare(column);
		}
	}

	/// To what long double gives, or the last count.
	void compare(unsigned column)
	{
		for (const auto &[who, want] : plain_.shares) {
			long double got = value(shares[who].count[column]);

			got /= 0x1p64L;
			ASSERT_NEAR(got, want[column],
				    1 + want[column] * 1e-8L)
				<< "task " << std::get<2>(who);
		}
	}

	struct running {
		key_tuple who{};
		__u64 from = 0, weight = 0;
	};

	std::mt19937_64 random_{42};
	model plain_;
	std::vector<running> running_;
	__u64 time_ = 1000000, opened_ = 1000000;
	__u32 one_ = package;
};

TEST_P(schedules, shares_are_right_and_sums_exact)
{
	for (int account = 0; account < 50; account++) {
		for (int i = 0; i < 300; i++) {
			step(below(GetParam().n_cpus));
			if (HasFatalFailure())
				return;
		}
		time_ += 5;
		advance(&packages[package], time_);
		read();
		settle_all();
		check();
		if (HasFatalFailure())
			return;
	}
}

INSTANTIATE_TEST_SUITE_P(
	account, schedules,
	testing::Values(
		shape{"each_switch", 4, 10, 2, 1, 10000, 1 << 20, 100},
		shape{"seldom", 4, 10, 2, 1, 10000, 1 << 20, 3},
		shape{"one_cpu", 1, 3, 1, 1, 10000, 1000, 10},
		shape{"many_cpus", 64, 90, 1, 1, 100, 1 << 30, 2},
		shape{"many_tasks", 8, 150, 1, 1, 1000, 1 << 20, 1},
		shape{"weighed", 8, 20, 3, 1 << 16, 100000, 1ULL << 40, 10},
		shape{"all_columns", 4, 8, 16, 1024, 10000, 1ULL << 44, 20},
		shape{"no_time", 4, 8, 1, 1, 2, 1000, 30},
		shape{"few_counts", 36, 50, 1, 1, 100000, 3, 5},
		shape{"long_stop", 2, 3, 1, 1, 1ULL << 46, 1ULL << 49, 20},
		shape{"long_and_heavy", 4, 6, 1, 1 << 16, 1ULL << 40, 1ULL << 49,
		      50}),
	[](const auto &at) { return at.param.name; });

// --- single cases

class window : public schedules {};

TEST_P(window, tasks_without_a_place_are_not_lost)
{
	attr_package &p = packages[package];
	attr_cpu &c = cpus[0];
	std::vector<__u64> delta{1000000};

	advance(&p, time_);
	for (__u32 pid = 0; pid <= 600; pid++) {
		attr_key key{c.start_time, c.cgroup, c.pid, package};
		attr_task next{pid + 1, 0, pid + 1, pid + 1, "many"};

		advance(&p, time_ += 10);
		switch_tasks(&p, &c, 0, &key, nullptr, &next, 1);
	}
	attr_key key{c.start_time, c.cgroup, c.pid, package};
	attr_task none{};

	switch_tasks(&p, &c, 0, &key, nullptr, &none, 1);
	end(delta);
	one_ = package;
	repeat(ATTR_WINDOW_TASKS + 1, ATTR_WINDOW_TASKS + 1, charge_slice, one_);

	wide sum = value(p.now.remainder[0]) + value(p.dropped[0].count[0]);

	for (const auto &[who, share] : shares)
		sum += value(share.count[0]);
	EXPECT_EQ(sum, value({1000000, 0}));
	EXPECT_GT(shares.size(), size_t(ATTR_WINDOW_TASKS) / 2);
	EXPECT_GT(p.dropped[0].stretches, 100u);
}

TEST_P(window, time_that_is_too_long_is_not_weighed)
{
	attr_package &p = packages[package];
	attr_cpu &c = cpus[0];
	attr_key key{};
	attr_task next{1, 0, 1, 1, "heavy"}, none{};
	std::vector<__u64> delta{1ULL << 50};

	advance(&p, time_);
	switch_tasks(&p, &c, 0, &key, nullptr, &next, 1 << 16);
	advance(&p, time_ += 1ULL << 50);
	EXPECT_LE(p.ran, MAX_RAN);
	advance(&p, time_ += 1ULL << 50);
	EXPECT_LE(p.ran, MAX_RAN);
	end(delta);
	key = {c.start_time, c.cgroup, c.pid, package};
	switch_tasks(&p, &c, 0, &key, nullptr, &none, 1);

	wide got = value(shares[{1, 0, 1}].count[0]);

	EXPECT_EQ(got + value(p.now.remainder[0]), value({1ULL << 50, 0}));
	EXPECT_GT(got, value({(1ULL << 50) - (1 << 20), 0}));
}

TEST_P(window, the_last_name_holds)
{
	attr_package &p = packages[package];
	attr_share share{};

	p.window = 5;
	name_share(&share, "new............", 1, 5);
	name_share(&share, "old............", 1, 4);
	EXPECT_STREQ(share.comm, "new............");
	name_share(&share, "newer..........", 1, 6);
	EXPECT_STREQ(share.comm, "newer..........");
}

INSTANTIATE_TEST_SUITE_P(account, window,
			 testing::Values(shape{"one", 1, 1, 1, 1, 10, 10, 10}),
			 [](const auto &at) { return at.param.name; });

// --- when to read

TEST(reads, are_once_in_the_resolution)
{
	attr_package p{};
	attr_window w{};

	EXPECT_FALSE(is_due(&p, &w, 99999, false, 100000));
	EXPECT_TRUE(is_due(&p, &w, 100000, false, 100000));
	w.used = ATTR_WINDOW_CROWD;
	EXPECT_TRUE(is_due(&p, &w, 1, false, 100000)) << "a crowd";
}

TEST(reads, that_were_saved_up_are_for_idle_packages)
{
	constexpr __u64 resolution = 100000;
	attr_package p{};
	attr_window w{};
	unsigned early = 0;

	p.running = 1;
	EXPECT_FALSE(is_due(&p, &w, 10, true, resolution)) << "none yet";
	pay_read(&p, 1000 * resolution, resolution);
	EXPECT_FALSE(is_due(&p, &w, 10, false, resolution));
	for (; is_due(&p, &w, 10, true, resolution); early++)
		pay_read(&p, 10, resolution);
	EXPECT_EQ(early, ATTR_SPARE_READS - 1u);
	p.running = 2;
	EXPECT_FALSE(is_due(&p, &w, 10, true, resolution))
		<< "others still run";
}

TEST(reads, are_no_more_than_the_time_is_worth)
{
	constexpr __u64 resolution = 100000;
	std::mt19937_64 random(7);
	attr_package p{};
	attr_window w{};
	__u64 now = 0, at = 0, reads = 0;

	p.running = 1;
	for (int i = 0; i < 1000000; i++) {
		now += random() % 20000;
		if (!is_due(&p, &w, now - at, random() % 2, resolution))
			continue;
		pay_read(&p, now - at, resolution);
		at = now;
		reads++;
	}
	EXPECT_LE(reads, now / resolution + ATTR_SPARE_READS);
	EXPECT_GE(reads, now / resolution * 8 / 10);
}

} // namespace
