// SPDX-License-Identifier: GPL-2.0-or-later
// Test the series of cgroups: at any time their values add up to the counts of the
// accounts, and no series decreases.
#include <map>
#include <random>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "cgroups/cgroup_shares.hpp"

using namespace cli;

namespace {

constexpr uint64_t gone = 1000; ///< ids of removed cgroups, without a path, begin here
constexpr double line = 64;	///< bytes of a cache line

std::string path_of(uint64_t id)
{
	return id < gone ? "/" + std::to_string(id % 100) : "";
}

fixed_count fixed(uint64_t whole)
{
	return fixed_count(whole) << fixed_bits;
}

account empty_account(std::vector<int> sockets)
{
	account empty;

	for (const int id : sockets) {
		package_account package;

		package.id = id;
		package.idle = {0, 0};
		package.other = {0, 0};
		empty.packages.push_back(package);
	}
	return empty;
}

void add_task(account &account, uint64_t cgroup, unsigned package,
	      fixed_count read, fixed_count write = 0)
{
	task_share task;

	task.cgroup = cgroup;
	task.package = package;
	task.counts = {read, write};
	account.tasks.push_back(task);
}

/// Labels of a sample: socket, cgroup, direction.
using place = std::tuple<std::string, std::string, std::string>;

/// Get the bytes of each series of cgroups.
std::map<place, double> bytes_of(const cgroup_shares &shares)
{
	std::vector<family> families;
	std::map<place, double> bytes;

	shares.add_to(families);
	for (const sample &sample : families.front().samples) {
		const place where = {sample.labels[0].second,
				     sample.labels[1].second,
				     sample.labels[2].second};

		EXPECT_FALSE(bytes.contains(where)) << sample.labels[1].second;
		bytes[where] = sample.value;
	}
	return bytes;
}

/// Get the value of a family that has a single sample.
double single(const cgroup_shares &shares, const std::string &name)
{
	std::vector<family> families;

	shares.add_to(families);
	for (const family &family : families)
		if (family.name == name)
			return family.samples.front().value;
	return -1;
}

} // namespace

TEST(cgroup_shares, a_series_begins_with_0_and_what_was_before_is_other)
{
	cgroup_shares shares(2, path_of);

	for (int i = 0; i < 2; i++) {
		account one = empty_account({0, 3});

		add_task(one, 7, 1, fixed(100), fixed(10));
		one.packages[1].idle = {5, 6};
		one.packages[1].other = {fixed(1), fixed(2)};
		shares.add(one, 1);
	}

	auto all = bytes_of(shares);

	EXPECT_EQ(all.size(), 2u * 3 * 2);
	EXPECT_EQ((all[{"3", "/7", "read"}]), 100 * line);
	EXPECT_EQ((all[{"3", "/7", "write"}]), 10 * line);
	EXPECT_EQ((all[{"3", "other", "read"}]), 102 * line);
	EXPECT_EQ((all[{"3", "other", "write"}]), 14 * line);
	EXPECT_EQ((all[{"3", "idle", "read"}]), 10 * line);
	EXPECT_EQ((all[{"3", "idle", "write"}]), 12 * line);
	EXPECT_EQ((all[{"0", "/7", "read"}]), 0);
	EXPECT_EQ((all[{"0", "other", "read"}]), 0);
	EXPECT_EQ(single(shares, "uncore_cgroups_in_other"), 0);
	EXPECT_EQ(single(shares, "uncore_cgroup_changes"), 0);
}

TEST(cgroup_shares, the_most_active_are_shown_and_who_does_more_takes_over)
{
	cgroup_shares shares(2, path_of);
	account first = empty_account({0});

	for (const auto &[id, lines] :
	     {std::pair(1, 10), {2, 30}, {3, 20}, {4, 5}})
		add_task(first, id, 0, fixed(lines));
	shares.add(first, 1);

	auto all = bytes_of(shares);

	EXPECT_TRUE(all.contains({"0", "/2", "read"}));
	EXPECT_TRUE(all.contains({"0", "/3", "read"}));
	EXPECT_EQ(all.size(), 2u * 4);
	EXPECT_EQ(single(shares, "uncore_cgroups_in_other"), 4);

	// A cgroup that is only a little more active gets no series: two such cgroups
	// would replace each other again and again.
	account second = empty_account({0});

	add_task(second, 1, 0, fixed(25));
	shares.add(second, 0);
	EXPECT_TRUE(bytes_of(shares).contains({"0", "/3", "read"}));

	account third = empty_account({0});

	add_task(third, 1, 0, fixed(1000));
	shares.add(third, 0);
	EXPECT_EQ(single(shares, "uncore_cgroups_in_other"), 1);

	// The counts of /3, which has no series any more, are in "other".
	account last = empty_account({0});

	add_task(last, 3, 0, fixed(7));
	shares.add(last, 0);
	all = bytes_of(shares);
	EXPECT_TRUE(all.contains({"0", "/1", "read"}));
	EXPECT_FALSE(all.contains({"0", "/3", "read"}));
	EXPECT_EQ((all[{"0", "/1", "read"}]), 0);
	EXPECT_EQ((all[{"0", "other", "read"}]), 1097 * line);
	EXPECT_EQ(single(shares, "uncore_cgroup_changes"), 1);
	EXPECT_EQ(single(shares, "uncore_cgroups_in_other"), 1);
}

TEST(cgroup_shares, what_a_cgroup_did_long_ago_counts_little)
{
	cgroup_shares shares(1, path_of);
	account first = empty_account({0}), second = empty_account({0});

	add_task(first, 1, 0, fixed(1000));
	shares.add(first, 1);
	add_task(second, 2, 0, fixed(600));
	shares.add(second, 0);
	EXPECT_TRUE(bytes_of(shares).contains({"0", "/1", "read"}));
	second.tasks[0].counts[0] = 0;
	shares.add(second, 600);
	second.tasks[0].counts[0] = fixed(10);
	shares.add(second, 0);
	shares.add(second, 0);
	EXPECT_TRUE(bytes_of(shares).contains({"0", "/2", "read"}));
}

TEST(cgroup_shares, a_path_that_is_there_again_goes_on)
{
	cgroup_shares shares(1, path_of);
	account one = empty_account({0}), again = empty_account({0});

	add_task(one, 7, 0, fixed(10));
	shares.add(one, 1);
	shares.add(one, 1);
	add_task(again, 107, 0, fixed(5)); // another id with the same path
	shares.add(again, 1);
	EXPECT_EQ((bytes_of(shares)[{"0", "/7", "read"}]), 15 * line);
}

TEST(cgroup_shares, who_has_no_path_is_other)
{
	cgroup_shares shares(5, path_of);
	account one = empty_account({0});

	add_task(one, gone, 0, fixed(10));
	for (int i = 0; i < 3; i++)
		shares.add(one, 1);

	auto all = bytes_of(shares);

	EXPECT_EQ(all.size(), 2u * 2);
	EXPECT_EQ((all[{"0", "other", "read"}]), 30 * line);
	EXPECT_EQ(single(shares, "uncore_cgroups_in_other"), 1);
}

/// Cgroups are created, removed and created again, on two sockets.
TEST(cgroup_shares, all_of_it_adds_up_always)
{
	std::mt19937_64 random(14);
	const auto below = [&random](uint64_t n) { return random() % n; };
	cgroup_shares shares(4, path_of);
	std::map<place, double> before;
	std::map<std::pair<std::string, std::string>, double> total, seen;
	std::set<std::string> shown;

	for (int round = 0; round < 3000; round++) {
		account one = empty_account({0, 1});
		const uint64_t most = uint64_t(1) << below(30);

		for (package_account &package : one.packages) {
			package.idle = {below(most), below(most)};
			package.other = {fixed(below(9)), fixed(below(9))};
		}
		for (uint64_t n = below(12); n; n--)
			add_task(one,
				 below(20) ? below(30) + 100 * below(3)
					   : gone + below(9),
				 unsigned(below(2)), fixed(below(most)),
				 fixed(below(most)));
		for (size_t p = 0; p < 2; p++)
			for (size_t way = 0; way < 2; way++) {
				double &sum = total[{std::to_string(p),
						     way ? "write" : "read"}];

				sum += line * double(one.packages[p].idle[way]);
				sum += line *
				       to_double(one.packages[p].other[way]);
				for (const task_share &task : one.tasks)
					if (task.package == p)
						sum += line *
						       to_double(task.counts
									 [way]);
			}
		shares.add(one, double(below(100)));

		// Add up the increments like a scraper, which knows a series from
		// its first value on.
		const auto now = bytes_of(shares);

		EXPECT_LE(now.size(), 2u * 2 * 6);
		for (const auto &[where, value] : now) {
			const auto &[socket, cgroup, way] = where;
			const auto old = before.find(where);

			shown.insert(cgroup);
			if (old == before.end()) {
				ASSERT_TRUE(!round || value == 0) << cgroup;
				seen[{socket, way}] += value;
				continue;
			}
			ASSERT_GE(value, old->second) << cgroup;
			seen[{socket, way}] += value - old->second;
		}
		before = now;
		ASSERT_EQ(seen, total) << "round " << round;
	}
	EXPECT_GT(shown.size(), 20u);
	EXPECT_GT(single(shares, "uncore_cgroup_changes"), 100);
}
