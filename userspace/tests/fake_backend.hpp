// SPDX-License-Identifier: LGPL-2.1-or-later
// Counters and a clock that do what a test says.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "backend.hpp"

class fake_backend : public uncore::counter_backend {
public:
	using nanoseconds = std::chrono::nanoseconds;

	/// Time passes: each running group's members count @p rate of each
	/// nanosecond that its share of the time makes.
	void advance(nanoseconds time)
	{
		now_ += time;
		for (auto &group : groups)
			for (size_t cpu = 0; cpu < group.cpus.size(); cpu++)
				if (group.enabled && is_online(group.cpus[cpu]))
					count(group, cpu, time);
	}

	/// A session's or a counter set's next read.
	void read_after(nanoseconds time, auto &counts)
	{
		advance(time);
		ASSERT_TRUE(counts.read());
	}

	struct counters {
		uint64_t enabled = 0, running = 0;
		std::vector<double> values;
	};
	struct fake_group {
		std::vector<uncore::event> members;
		std::vector<int> cpus;
		std::vector<counters> by_cpu;
		bool enabled = false;
		double share = 1; ///< of the time that it runs
		double rate = 1;  ///< counts a nanosecond, of member 0; others
				  ///< count 1, 2, ... times more
		std::vector<double> rates{}; ///< instead, of each member
		/// And by how much more on a CPU, for a member.
		std::function<double(size_t cpu, size_t member)> factor;
	};

	std::vector<fake_group> groups;
	std::set<int> offline;
	/// Boxes that do not answer: PMUs, and their CPUs.
	std::set<std::pair<std::string, int>> silent;
	/// Files of sysfs, and their last contents.
	std::map<std::filesystem::path, std::string> files;
	std::vector<std::pair<std::filesystem::path, std::string>> watched;
	unsigned reads = 0;
	/// Where reading has been; an empty list is home.
	std::vector<std::vector<int>> visited;
	/// What the next open() fails with.
	std::optional<uncore::error> refusal;

	uncore::result<unsigned> open(const uncore::counter_group &group,
				      std::span<const int> cpus) override
	{
		if (refusal)
			return *refusal;
		for (int cpu : cpus)
			if (group.pmu && silent.count({group.pmu->name, cpu}))
				return uncore::error{uncore::errc::gone,
						     "no answer"};

		fake_group made;

		made.members = group.members;
		made.cpus.assign(cpus.begin(), cpus.end());
		made.by_cpu.resize(cpus.size());
		for (counters &c : made.by_cpu)
			c.values.resize(group.members.size());
		groups.push_back(std::move(made));
		return unsigned(groups.size() - 1);
	}
	uncore::result<void> enable(unsigned group) override
	{
		groups[group].enabled = true;
		return {};
	}
	uncore::result<void> disable(unsigned group) override
	{
		groups[group].enabled = false;
		return {};
	}
	int64_t read_group(unsigned group, unsigned cpu,
			   std::span<uint64_t> words) override
	{
		const counters &c = groups[group].by_cpu[cpu];

		reads++;
		words[0] = c.values.size();
		words[1] = c.enabled;
		words[2] = c.running;
		for (size_t i = 0; i < c.values.size(); i++)
			words[3 + i] = uint64_t(c.values[i] + 0.5);
		return words.size_bytes();
	}
	bool answers(const uncore::event &wanted, int cpu) override
	{
		return is_online(cpu) && !silent.count({wanted.pmu->name, cpu});
	}
	unsigned watch(const std::filesystem::path &file) override
	{
		watched.push_back({file, "-"});
		return watched.size() - 1;
	}
	std::optional<std::string> changed(unsigned file) override
	{
		auto &[path, text] = watched[file];
		auto now = files.find(path);

		if (now == files.end() || now->second == text)
			return std::nullopt;
		return text = now->second;
	}
	void visit(std::span<const int> cpus) override
	{
		visited.emplace_back(cpus.begin(), cpus.end());
	}
	void leave() override { visited.emplace_back(); }
	bool is_online(int cpu) override { return !offline.count(cpu); }
	nanoseconds now() override { return now_; }
	void wait(nanoseconds time) override { advance(time); }

private:
	static void count(fake_group &group, size_t cpu, nanoseconds time)
	{
		counters &c = group.by_cpu[cpu];
		auto ran = uint64_t(double(time.count()) * group.share);

		c.enabled += time.count();
		c.running += ran;
		for (size_t i = 0; i < c.values.size(); i++)
			c.values[i] +=
				double(ran) *
				(group.rates.empty()
					 ? group.rate * double(i + 1)
					 : group.rates[i]) *
				(group.factor ? group.factor(cpu, i) : 1);
	}

	nanoseconds now_{1000000000};
};
