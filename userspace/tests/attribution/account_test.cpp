// SPDX-License-Identifier: GPL-2.0-or-later
// Compare bpf/account.h, the code that runs in the kernel, with a plain model that
// keeps each time slice: random machines, schedules and reads of counters.
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <linux/types.h>

#include "attribution.h"

namespace {

unsigned n_columns;
__u64 longest_ns;
bool weighted;
constexpr bool has_loop = true, cpu_locks = true;
std::array<attr_package, ATTR_MAX_PACKAGES> packages;
std::array<attr_cpu, ATTR_MAX_CPUS> cpus;
std::array<std::array<attr_window, 2>, ATTR_MAX_PACKAGES> windows;
std::array<std::array<attr_slices, 2>, ATTR_MAX_CPUS> tables;

// The names that account.h and lock.h need from the file that includes them.

template <class F> void repeat(__u32 n, __u32 most, F *step, __u32 package)
{
	for (__u32 i = 0; i < n && i < most; i++)
		if (step(i, &package))
			break;
}

template <class F, class T> long bpf_loop(__u32 n, F *step, T *context, __u64)
{
	for (__u32 i = 0; i < n; i++)
		if (step(i, context))
			return i + 1;
	return n;
}

__u64 bpf_ktime_get_ns()
{
	return std::chrono::steady_clock::now().time_since_epoch().count();
}

#define REPEATED(step)
#undef __always_inline
#define __always_inline inline
#define __noinline
#include "account.h"
#include "lock.h"

using key_tuple = std::tuple<__u64, __u64, __u32>;
__extension__ typedef unsigned __int128 wide;

std::map<key_tuple, attr_share> shares;

attr_share *share_of(attr_package *, const attr_key *key)
{
	return &shares[{key->start_time, key->cgroup, key->pid}];
}

attr_slices *slices_of(__u32 cpu, __u64 window)
{
	return &tables[cpu][window & 1];
}

wide value(attr_number n)
{
	return (static_cast<wide>(n.whole) << 64) + n.fraction;
}

// --- weights

/// The first rate of a task that had its CPU for a long time before the weight event
/// was read.
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
	/// Get a random number of random size, often with all bits set or no bit set.
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

/// The plain model: divides the counts of each window among all time slices.
class model {
public:
	/// Time of a task on a CPU in a window.
	struct stretch {
		key_tuple task;
		__u64 from, until, weight;
	};

	void ran(key_tuple task, __u64 from, __u64 until, __u64 weight)
	{
		if (until > from)
			stretches_.push_back({task, from, until, weight});
	}

	/// End a window.
	/// @param delta counts of the window, by column
	/// @param running tasks that are still on a CPU
	void end(const std::vector<__u64> &delta,
		 const std::vector<stretch> &running, bool idle_now)
	{
		std::vector<stretch> stretches = stretches_;
		long double total = 0;

		stretches.insert(stretches.end(), running.begin(),
				 running.end());
		for (const auto &s : stretches)
			total += static_cast<long double>(s.until - s.from) *
				 s.weight;
		for (size_t c = 0; c < delta.size(); c++) {
			seen[c] += delta[c];
			if (total <= 0) {
				(idle_now ? idle : late)[c] += delta[c];
				continue;
			}
			for (const auto &s : stretches) {
				auto &got = shares[s.task];

				got.resize(delta.size());
				got[c] += (delta[c] + late[c]) *
					  ((s.until - s.from) * s.weight /
					   total);
			}
			late[c] = 0;
		}
		stretches_.clear();
	}

	/// Counts while no task ran, and counts that the next window divides.
	std::array<long double, ATTR_MAX_COLUMNS> idle{}, late{};
	/// All counts.
	std::array<__u64, ATTR_MAX_COLUMNS> seen{};
	std::map<key_tuple, std::vector<long double>> shares;

private:
	std::vector<stretch> stretches_;
};

/// A machine, its schedule and its traffic.
struct shape {
	const char *name;
	unsigned n_cpus, n_tasks, n_columns;
	/// Limits of a weight, of the ns between switches, and of the counts of a
	/// window.
	__u64 max_weight, max_step, max_delta;
	unsigned read_percent; ///< part of the switches that read the counters
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
		tables.fill({});
		shares.clear();
		weighted = false;
		longest_ns = ATTR_MAX_RAN /
			     (GetParam().n_cpus * GetParam().max_weight);
		for (auto &cpu : cpus)
			cpu.package = package;
		running_.assign(GetParam().n_cpus, {});
	}

	__u64 below(__u64 n) { return n ? random_() % n : 0; }

	/// Choose the next task of a CPU: a task that is on no other CPU, or the idle
	/// task.
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

	/// The tasks that are on a CPU now, with their time in the open window.
	std::vector<model::stretch> still_running()
	{
		std::vector<model::stretch> stretches;

		for (unsigned cpu = 0; cpu < GetParam().n_cpus; cpu++) {
			auto &r = running_[cpu];

			if (!std::get<2>(r.task))
				continue;
			stretches.push_back({r.task, std::max(r.from, opened_),
					     time_, r.weight});
		}
		return stretches;
	}

	/// End the window of the code under test.
	/// @param now time at which the counters were read
	bool end(const std::vector<__u64> &delta, __u64 now)
	{
		attr_package &p = packages[package];

		if (!lock_window(&p, package, now))
			return false;
		std::copy(delta.begin(), delta.end(),
			  window_of(package, p.window)->delta);
		end_window(&p, package);
		return true;
	}

	/// Read random counts, and end the window in the model and in the code.
	void read()
	{
		std::vector<__u64> delta(n_columns);

		for (auto &d : delta)
			d = below(3) ? below(GetParam().max_delta) : 0;
		plain_.end(delta, still_running(), !packages[package].running);
		ASSERT_TRUE(end(delta, time_));
		opened_ = time_;
	}

	/// Let time pass, and switch a CPU to another task in the model and in the code.
	void step(unsigned cpu)
	{
		attr_package &p = packages[package];
		attr_cpu &c = cpus[cpu];
		auto &was = running_[cpu];
		attr_task next = choose(cpu);
		__u64 weight = 1 + below(GetParam().max_weight);

		time_ += below(10) ? below(GetParam().max_step) : 0;
		ASSERT_EQ(in_window(&p, &c, time_), time_);
		ASSERT_LE(time_ - p.opened, longest_ns)
			<< "no time is left out here";
		if (below(100) < GetParam().read_percent ||
		    is_due(&p, &c, 0, false, 1))
			read();
		if (std::get<2>(was.task))
			plain_.ran(was.task, std::max(was.from, opened_), time_,
				   was.weight);
		was = {{next.start_time, next.cgroup, next.pid}, time_, weight};
		switch_to(cpu, next, weight);
	}

	/// Switch as attribution.bpf.c does: like a switch with only the CPU's lock if
	/// the CPU has entered the window, otherwise like one with the package's lock.
	void switch_to(unsigned cpu, const attr_task &next, __u64 weight)
	{
		attr_package &p = packages[package];
		attr_cpu &c = cpus[cpu];
		attr_key key{c.start_time, c.cgroup, c.pid, package};
		__u64 now = in_window(&p, &c, time_);

		if (c.watched && c.entered == p.window) {
			switch_tasks(&p, &c, cpu, &key, &next, weight, now);
			return;
		}
		enter_and_switch(&p, &c, cpu, &key, nullptr, &next, weight,
				 now);
		charge_some(&p, package);
	}

	/// Charge all tasks for all ended windows, as the BPF program flip() does.
	void settle_all()
	{
		charge_all(&packages[package], package);
		for (unsigned cpu = 0; cpu < GetParam().n_cpus; cpu++) {
			attr_cpu &c = cpus[cpu];
			attr_key key{c.start_time, c.cgroup, c.pid, package};
			attr_package &p = packages[package];

			if (c.watched && c.pid && c.entered != p.window &&
			    c.since < p.opened)
				settle(&p, &c, share_of(&p, &key));
		}
	}

	/// Check that shares, idle counts and remainders add up to the counts exactly.
	void check()
	{
		const attr_package &p = packages[package];

		for (unsigned column = 0; column < n_columns; column++) {
			wide sum = value(p.now.remainder[column]) +
				   value({p.now.idle[column], 0}) +
				   value(p.dropped[0].count[column]);

			for (const auto &[task, share] : shares)
				sum += value(share.count[column]);
			ASSERT_EQ(sum, value({plain_.seen[column], 0}));
			ASSERT_EQ(p.now.idle[column],
				  static_cast<__u64>(plain_.idle[column]));
			compare(column);
		}
	}

	/// Compare shares with the model's, which are as precise as a long double: they
	/// differ by a count at most, or by 1e-8 of the share.
	void compare(unsigned column)
	{
		for (const auto &[task, want] : plain_.shares) {
			long double got = value(shares[task].count[column]);

			got /= 0x1p64L;
			ASSERT_NEAR(got, want[column],
				    1 + want[column] * 1e-8L)
				<< "task " << std::get<2>(task);
		}
	}

	/// The task on a CPU.
	struct running {
		key_tuple task{};
		__u64 from = 0, weight = 0;
	};

	std::mt19937_64 random_{42};
	model plain_;
	std::vector<running> running_;
	__u64 time_ = 1000000, opened_ = 1000000;
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
	[](const auto &test) { return test.param.name; });

// --- single cases

class window : public schedules {};

TEST_P(window, tasks_without_a_place_are_not_lost)
{
	attr_package &p = packages[package];

	for (__u32 pid = 0; pid <= 600; pid++, time_ += 10)
		switch_to(0, {pid + 1, 0, pid + 1, pid + 1, "many", {}}, 1);
	switch_to(0, {}, 1);
	ASSERT_TRUE(end({1000000}, time_));
	charge_all(&packages[package], package);

	wide sum = value(p.now.remainder[0]) + value(p.dropped[0].count[0]);

	for (const auto &[task, share] : shares)
		sum += value(share.count[0]);
	EXPECT_EQ(sum, value({1000000, 0}));
	EXPECT_GT(shares.size(), size_t(ATTR_CPU_TASKS) / 2);
	EXPECT_GT(p.dropped[0].stretches, 100u);
}

TEST_P(window, time_that_is_too_long_is_not_weighed)
{
	attr_package &p = packages[package];

	longest_ns = ATTR_MAX_RAN / ATTR_MAX_WEIGHT;
	switch_to(0, {1, 0, 1, 1, "heavy", {}}, ATTR_MAX_WEIGHT);
	time_ += 1ULL << 50;
	switch_to(0, {2, 0, 2, 2, "late", {}}, ATTR_MAX_WEIGHT);
	time_ += 1ULL << 50;
	ASSERT_TRUE(end({1ULL << 50}, time_));
	EXPECT_LE(p.ran, ATTR_MAX_RAN);
	switch_to(0, {}, 1);
	charge_all(&packages[package], package);

	wide heavy = value(shares[{1, 0, 1}].count[0]);

	EXPECT_EQ(heavy + value(p.now.remainder[0]), value({1ULL << 50, 0}));
	EXPECT_GT(heavy, value({(1ULL << 50) - (1 << 20), 0}));
	EXPECT_EQ((shares[{1, 0, 1}].cpu_ns), 1ULL << 50);
	EXPECT_EQ((shares[{2, 0, 2}].cpu_ns), 1ULL << 50);
}

/// A hypervisor has stopped the CPU that has the lock.
TEST_P(window, stays_open_while_a_cpu_is_stalled)
{
	attr_package &p = packages[package];

	switch_to(0, {1, 0, 1, 1, "a", {}}, 1);
	time_ += 10;
	switch_to(1, {2, 0, 2, 2, "b", {}}, 1);
	time_ += 10;
	ASSERT_TRUE(lock_cpu(1));
	EXPECT_FALSE(end({1000}, time_));
	EXPECT_EQ(p.window, 1u);
	EXPECT_EQ(cpus[0].lock, LOCK_FREE) << "is not kept";
	EXPECT_EQ(cpus[1].lock, LOCK_STALLED);
	unlock_cpu(1);
	ASSERT_TRUE(end({3000}, time_));
	settle_all();
	EXPECT_NEAR(double((shares[{1, 0, 1}].count[0].whole)), 2000, 1);
	EXPECT_NEAR(double((shares[{2, 0, 2}].count[0].whole)), 1000, 1);
}

TEST_P(window, ends_no_earlier_than_its_last_switch)
{
	attr_package &p = packages[package];

	switch_to(0, {1, 0, 1, 1, "a", {}}, 1);
	time_ += 100;
	switch_to(0, {2, 0, 2, 2, "b", {}}, 1);
	ASSERT_TRUE(end({1000}, time_ - 50)) << "read before, locked after";
	EXPECT_EQ(p.opened, time_);
	time_ -= 10;
	switch_to(0, {}, 1);
	EXPECT_EQ(cpus[0].since, p.opened) << "read before the window began";
	time_ += 20;
	ASSERT_TRUE(end({70}, time_));
	settle_all();
	EXPECT_EQ((shares[{1, 0, 1}].count[0].whole), 1000u);
	EXPECT_EQ(p.now.idle[0], 70u);
	EXPECT_EQ(p.now.idle_ns, 10u);
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
			 testing::Values(shape{"two", 2, 1, 1, 1, 10, 10, 10}),
			 [](const auto &test) { return test.param.name; });

// --- CPUs that switch at the same time

class together : public schedules {
protected:
	static constexpr int switches = 100000;

	/// Switch tasks on a CPU. Each CPU has a thread; all threads take the time from
	/// the same clock.
	void run(__u32 cpu)
	{
		std::mt19937_64 random(cpu);
		attr_package &p = packages[package];
		attr_cpu &c = cpus[cpu];

		for (int i = 0; i < switches; i++) {
			turn t{};
			__u32 pid = 1 + random() % GetParam().n_tasks;

			t.cpu = cpu;
			t.key = {c.start_time, c.cgroup, c.pid, package};
			t.now = clock_ += 1 + random() % 16;
			t.coming = {pid, 0, pid, pid, "any", {}};
			if (random() % 100 < GetParam().read_percent ||
			    !switch_alone(&p, &c, &t))
				switch_locked(t, random());
		}
	}

	/// Switch with the package's lock, as attribution.bpf.c does.
	/// @param any random bits, for the decision to read and for the counts
	void switch_locked(turn &t, __u64 any)
	{
		attr_package &p = packages[package];
		attr_cpu &c = cpus[t.cpu];

		while (!lock_package(package))
			;
		t.now = in_window(&p, &c, t.now);
		if (any % 100 < GetParam().read_percent) {
			__u64 delta = any >> 8 & 0xffff;

			seen_ += end({delta}, t.now) ? delta : 0;
			t.now = in_window(&p, &c, t.now);
		}
		if (!begun_[t.cpu])
			begun_[t.cpu] = t.now;
		enter_and_switch(&p, &c, t.cpu, &t.key, nullptr, &t.coming,
				 update(&p, &c, &t), t.now);
		charge_some(&p, package);
		unlock_package(package);
	}

	std::atomic<__u64> clock_ = 1000000;
	__u64 seen_ = 0;
	std::array<__u64, ATTR_MAX_CPUS> begun_{};
};

TEST_P(together, no_count_and_no_time_is_lost)
{
	attr_package &p = packages[package];
	std::vector<std::thread> threads;
	wide sum;
	__u64 ns = 0, want = 0;

	for (__u32 cpu = 0; cpu < GetParam().n_cpus; cpu++)
		threads.emplace_back([this, cpu] { run(cpu); });
	for (auto &thread : threads)
		thread.join();
	ASSERT_TRUE(end({12345}, clock_));
	settle_all();
	sum = value(p.now.remainder[0]) + value(p.dropped[0].count[0]) +
	      value({p.now.idle[0], 0});
	ns = p.dropped[0].cpu_ns;
	for (const auto &[task, share] : shares) {
		sum += value(share.count[0]);
		ns += share.cpu_ns;
	}
	for (__u32 cpu = 0; cpu < GetParam().n_cpus; cpu++)
		want += p.opened - begun_[cpu];
	EXPECT_EQ(sum, value({seen_ + 12345, 0}));
	EXPECT_EQ(ns, want);
	EXPECT_EQ(p.running, GetParam().n_cpus);
	EXPECT_GT(p.reads, 100u);
}

INSTANTIATE_TEST_SUITE_P(
	account, together,
	testing::Values(shape{"few_reads", 4, 10, 1, 1, 16, 1 << 16, 2},
			shape{"many_reads", 4, 10, 1, 1, 16, 1 << 16, 50},
			shape{"many_tasks", 3, 300, 1, 1, 16, 1 << 16, 10}),
	[](const auto &test) { return test.param.name; });

// --- when to read

TEST(reads, are_once_in_the_resolution)
{
	attr_package p{};
	attr_cpu c{};

	EXPECT_FALSE(is_due(&p, &c, 99999, false, 100000));
	EXPECT_TRUE(is_due(&p, &c, 100000, false, 100000));
	c.used = ATTR_CPU_CROWD;
	EXPECT_TRUE(is_due(&p, &c, 1, false, 100000)) << "a crowd";
	c.entered--;
	EXPECT_FALSE(is_due(&p, &c, 1, false, 100000)) << "of the last window";
}

TEST(reads, that_were_saved_up_are_for_idle_packages)
{
	constexpr __u64 resolution = 100000;
	attr_package p{};
	attr_cpu c{};
	unsigned early = 0;

	p.running = 1;
	EXPECT_FALSE(is_due(&p, &c, 10, true, resolution)) << "none yet";
	pay_read(&p, 1000 * resolution, resolution);
	EXPECT_FALSE(is_due(&p, &c, 10, false, resolution));
	for (; is_due(&p, &c, 10, true, resolution); early++)
		pay_read(&p, 10, resolution);
	EXPECT_EQ(early, ATTR_SPARE_READS - 1u);
	p.running = 2;
	EXPECT_FALSE(is_due(&p, &c, 10, true, resolution))
		<< "others still run";
}

TEST(reads, are_no_more_than_the_time_is_worth)
{
	constexpr __u64 resolution = 100000;
	std::mt19937_64 random(7);
	attr_package p{};
	attr_cpu c{};
	__u64 now = 0, read_at = 0, reads = 0;

	p.running = 1;
	for (int i = 0; i < 1000000; i++) {
		now += random() % 20000;
		if (!is_due(&p, &c, now - read_at, random() % 2, resolution))
			continue;
		pay_read(&p, now - read_at, resolution);
		read_at = now;
		reads++;
	}
	EXPECT_LE(reads, now / resolution + ATTR_SPARE_READS);
	EXPECT_GE(reads, now / resolution * 8 / 10);
}

} // namespace
