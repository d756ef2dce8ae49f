// SPDX-License-Identifier: GPL-2.0-or-later
// Test the counts of uncore stat --attribute: random accounts of attribution, whose shares
// are fractions, are divided into whole counts that add up in each interval and socket.
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "attribution/share_counts.hpp"
#include "tree.hpp"

using cli::fixed_count;
using uncore::period;
using uncore::scope;

namespace {

class share_counts : public testing::Test {
protected:
	/// Counts in units of 2^-64 of a task that ran in a socket.
	static cli::task_share task(uint32_t pid, unsigned package,
				    fixed_count count)
	{
		cli::task_share share;

		share.pid = pid;
		share.package = package;
		share.cpu_ns = 1000;
		share.counts = {count};
		return share;
	}

	fixed_count any_count()
	{
		return (static_cast<fixed_count>(random_() % 5)
			<< cli::fixed_bits) +
		       random_();
	}

	/// Make an account with a share of the command and one of other tasks in
	/// each socket.
	cli::account any_account()
	{
		cli::account account;

		for (unsigned p = 0; p < machine_.packages().size(); p++) {
			const fixed_count command = any_count(),
					  others = any_count();
			const uint64_t idle = random_() % 3;
			cli::package_account package;
			// The remainder makes the sum whole.
			const fixed_count shares =
				command + others - remainder_[p];
			const fixed_count after = -shares & (~uint64_t(0));

			package.ns = 1000;
			package.idle_ns = 100;
			package.idle = {idle};
			package.other = {0};
			package.remainder_before = {remainder_[p]};
			package.remainder = {after};
			package.totals = {
				idle + static_cast<uint64_t>((shares + after) >>
							     cli::fixed_bits)};
			remainder_[p] = after;
			total_ += package.totals[0];
			command_ += command;
			account.tasks.push_back(task(0, p, others));
			account.tasks.push_back(task(7, p, command));
			account.packages.push_back(package);
		}
		return account;
	}

	/// Check that the lines without a name have the sum of the others.
	/// @return the raw counts by the lines' names.
	static std::map<std::string, uint64_t>
	check(const std::vector<cli::report_line> &lines)
	{
		std::map<std::string, uint64_t> sums;
		std::map<int, int64_t> rest;

		for (const cli::report_line &line : lines) {
			const auto raw = int64_t(line.counted.raw);

			sums[std::string(line.tasks.name)] += raw;
			rest[line.counted.package] +=
				line.tasks.name.empty() ? raw : -raw;
		}
		for (const auto &[package, difference] : rest)
			EXPECT_EQ(difference, 0) << package;
		return sums;
	}

	const tree recorded_{"hswep"};
	const uncore::topology machine_ = recorded_.topology();
	cli::cgroup_names names_;
	std::mt19937_64 random_{1};
	std::map<unsigned, fixed_count> remainder_;
	uint64_t total_ = 0;
	fixed_count command_ = 0;
};

TEST_F(share_counts, add_up)
{
	cli::share_request request;

	request.event_lists = {"hswep_imc_0/cas_count.rd/"};
	request.attribute = true;
	request.command = "make";

	const auto plan = cli::plan_shares(request, machine_, names_);

	ASSERT_TRUE(plan);

	cli::share_counts counts(*plan, machine_, {}, names_);

	for (int i = 0; i < 1000; i++) {
		counts.begin_interval();
		counts.add(any_account());
		for (const scope where : {scope::machine, scope::package})
			for (const period when :
			     {period::interval, period::total})
				check(counts.lines(where, when));
		EXPECT_EQ(check(counts.lines(scope::machine, period::total)),
			  check(counts.lines(scope::package, period::total)));
	}

	auto sums = check(counts.lines(scope::machine, period::total));

	EXPECT_EQ(sums[""], total_);
	EXPECT_NEAR(double(sums["command"]), cli::to_double(command_),
		    0.5 * double(machine_.packages().size()));
	EXPECT_GT(sums["idle"], 0u);
	EXPECT_GT(sums["other"], 0u);
}

} // namespace
