// SPDX-License-Identifier: LGPL-2.1-or-later
// Which boxes of a session are measured.  The driver takes a box that does not
// answer out of its PMU's cpumask, and counts what other programs write.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <uncore/topology.hpp>

#include "backend.hpp"
#include "health.hpp"
#include "session.hpp"

namespace uncore {

/// Does it count its box's clock, by the catalogue?
bool is_clock(const event &counted, std::string_view generation);

class box_watch {
public:
	/// @param packages those that are counted; empty: all.
	box_watch(const topology &machine, counter_backend &backend,
		  std::span<const int> packages)
		: machine_(machine), backend_(backend),
		  chosen_(packages.begin(), packages.end())
	{
	}

	/// Where a group is counted: CPUs and packages, ascending by CPU, and
	/// the numbers of their boxes.
	struct place {
		std::vector<int> cpus, packages;
		std::vector<uint32_t> boxes;
	};
	/// Where the boxes of a PMU answer now; nullptr for each CPU.
	place place_of(const pmu_info *which);
	/// Leaves out CPUs of a place where the PMU's box does not answer.
	void leave_out(place &from, std::span<const int> cpus);

	/// The next check is of a new interval.
	void begin_interval();
	/// Reads are done: look what has changed.  @return boxes that are lost
	/// since the last time.
	std::span<const uint32_t> check();
	void worsen(uint32_t box, condition now);

	std::span<const box_health> health(period when) const
	{
		return when == period::interval ? interval_ : total_;
	}
	/// What is to be reported, a line for all boxes of a package to which
	/// the same happened.
	struct news_line {
		condition what;
		std::string text;
	};
	std::vector<news_line> news();

private:
	struct watched_pmu {
		const pmu_info *which;
		unsigned file; ///< its cpumask
		std::vector<int> cpus;
	};
	struct watched_package {
		int id;
		unsigned file; ///< its foreign_writes
		uint64_t writes;
	};

	uint32_t box_at(const pmu_info *which, int package, int cpu);
	watched_pmu &watch(const pmu_info &which);
	void watch_package(const pmu_info &which, int package);
	bool read_mask(watched_pmu &of);
	int package_of(const pmu_info &which, int cpu) const;
	bool is_in_mask(const watched_pmu &of, int package) const;
	bool is_back(watched_pmu &of, int package);
	void check_boxes(watched_pmu &of);
	bool new_writes(watched_package &of);
	void check_package(watched_package &of);
	std::string line_of(condition what, std::span<const uint32_t> boxes);

	bool is_chosen(int package) const;

	topology machine_;
	counter_backend &backend_;
	std::vector<int> chosen_;
	std::vector<watched_pmu> pmus_;
	std::vector<watched_package> packages_;
	/// Of the time since the read before, and since the beginning.
	std::vector<box_health> interval_, total_;
	/// Conditions of each box that were reported, a bit each.
	std::vector<unsigned> said_;
	/// What news() tells.
	std::vector<std::pair<uint32_t, condition>> pending_;
	std::vector<uint32_t> lost_;
};

} // namespace uncore
