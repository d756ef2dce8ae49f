// SPDX-License-Identifier: LGPL-2.1-or-later
// Health of a session's boxes, from two kinds of files in sysfs.  The cpumask
// of a PMU has one CPU for each package; the driver removes the package's CPU
// if the box does not answer.  The file foreign_writes of a package has the
// number of register writes of other programs that the driver found.
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

/// Check whether an event counts its box's clock, by the catalogue.
bool is_clock(const event &event, std::string_view generation);

/// Boxes have numbers: indices into health(), in the order of place_of().  A
/// CPU with core events has a box number as well.
class box_watch {
public:
	/// @param packages to count; empty for all packages.
	box_watch(const topology &machine, counter_backend &backend,
		  std::span<const int> packages)
		: machine_(machine), backend_(backend),
		  chosen_(packages.begin(), packages.end())
	{
	}

	/// CPUs on which a group is counted, ascending, with the package and
	/// the box number of each CPU.
	struct place {
		std::vector<int> cpus, packages;
		std::vector<uint32_t> boxes;
	};
	/// List the CPUs on which the boxes of a PMU answer now; all CPUs for
	/// core events (@p pmu is nullptr).  Boxes that do not answer become
	/// absent.
	place place_of(const pmu_info *pmu);
	/// Remove from a place the CPUs on which the PMU's box does not answer.
	void leave_out(place &counted, std::span<const int> cpus);

	/// Begin a new interval: boxes that were only disturbed or stopped in
	/// the last interval are counting again.
	void begin_interval();
	/// Check the files of all boxes and packages, after the counters were
	/// read.
	/// @return numbers of the boxes that were lost since the last check.
	std::span<const uint32_t> check();
	/// Record a condition of a box, unless its condition is worse already.
	void worsen(uint32_t box, condition change);

	std::span<const box_health> health(period when) const
	{
		return when == period::interval ? interval_ : total_;
	}
	/// Line for the user, about all boxes of a package with the same
	/// change.
	struct news_line {
		condition what;
		std::string text;
	};
	/// Take the lines about changes since the last call.  Each condition of
	/// a box is reported once.
	std::vector<news_line> news();

private:
	struct watched_pmu {
		const pmu_info *pmu;
		unsigned file;	       ///< backend's number of the cpumask
		std::vector<int> cpus; ///< last content of the cpumask
	};
	struct watched_package {
		int id;
		unsigned file;	 ///< backend's number of foreign_writes
		uint64_t writes; ///< last content of foreign_writes
	};

	uint32_t box_at(const pmu_info *pmu, int package, int cpu);
	watched_pmu &watch(const pmu_info &pmu);
	void watch_package(const pmu_info &pmu, int package);
	bool read_mask(watched_pmu &pmu);
	int package_of(const pmu_info &pmu, int cpu) const;
	bool is_in_mask(const watched_pmu &pmu, int package) const;
	bool is_back(watched_pmu &pmu, int package);
	void check_boxes(watched_pmu &pmu);
	bool new_writes(watched_package &package);
	void check_package(watched_package &package);
	std::string line_of(condition change, std::span<const uint32_t> boxes);

	bool is_chosen(int package) const;

	topology machine_;
	counter_backend &backend_;
	std::vector<int> chosen_; ///< packages to count; empty: all
	std::vector<watched_pmu> pmus_;
	std::vector<watched_package> packages_;
	/// Worst condition of each box in the interval, and since the session
	/// was opened.
	std::vector<box_health> interval_, total_;
	/// Reported conditions of each box, one bit for each condition.
	std::vector<unsigned> reported_;
	/// Changes that news() reports.
	std::vector<std::pair<uint32_t, condition>> pending_;
	std::vector<uint32_t> lost_; ///< result of check()
};

} // namespace uncore
