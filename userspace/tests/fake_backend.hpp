// SPDX-License-Identifier: LGPL-2.1-or-later
// Counters and a clock that a test controls, in place of perf events.
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

	/// Let time pass. Each member of an enabled group counts at its rate in the
	/// group's share of the time.
	void advance(nanoseconds time)
	{
		now_ += time;
		for (auto &group : groups)
			for (size_t cpu = 0; cpu < group.cpus.size(); cpu++)
				if (group.enabled && is_online(group.cpus[cpu]))
					count(group, cpu, time);
	}

	/// Let time pass, then read a session or a counter set.
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
		double share = 1; ///< part of the time for which the group runs
		double rate = 1;  ///< counts a nanosecond of member 0; member n
				  ///< counts n + 1 times as much
		std::vector<double> rates{}; ///< if not empty: each member's rate
		/// Factor of a member's rate on a CPU.
		std::function<double(size_t cpu, size_t member)> factor;
	};

	std::vector<fake_group> groups;
	std::set<int> offline;
	/// Boxes that do not answer: the name of the PMU, and the CPU.
	std::set<std::pair<std::string, int>> silent;
	/// Contents of files of sysfs.
	std::map<std::filesystem::path, std::string> files;
	/// The files of watch(), with the contents that changed() last returned.
	std::vector<std::pair<std::filesystem::path, std::string>> watched;
	unsigned reads = 0;
	/// CPUs of each visit(); an empty list for leave().
	std::vector<std::vector<int>> visited;
	/// The error of open(), if any.
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

		fake_group opened;

		opened.members = group.members;
		opened.cpus.assign(cpus.begin(), cpus.end());
		opened.by_cpu.resize(cpus.size());
		for (counters &c : opened.by_cpu)
			c.values.resize(group.members.size());
		groups.push_back(std::move(opened));
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

	/// Return the words that perf returns for a group: the number of members,
	/// the times enabled and running, and the counts.
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
