// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Whether boxes are measured: they may be missing or die, CPUs go offline with
/// their events, clocks stop, and other programs write registers.
#pragma once

#include <span>
#include <string>

#include <uncore/topology.hpp>

namespace uncore {

/// The worse, the later.
enum class condition {
	counting,
	disturbed, ///< another program wrote registers of its package
	stopped,   ///< its clock did not advance
	absent,	   ///< did not answer when the counters were opened
	dead,	   ///< stopped answering
	offline,   ///< its CPU went offline, and its events with it
};

/// A box of a package, or a CPU with its own events.
struct box_health {
	const pmu_info *pmu = nullptr; ///< nullptr for a CPU's own events
	int package = -1;
	/// On which its events were opened, -1 where they were not.
	int cpu = -1;
	uncore::condition condition = condition::counting;

	/// Is it still counted?  What one counted that is not any more stays in
	/// totals.
	bool measured() const { return condition < condition::absent; }
	/// What is wrong, for people: "hswep_imc_2 of socket 1 does not answer
	/// any more"; empty where nothing is.
	std::string reason() const;
};

/// What is wrong with the boxes of a number, for people: the worst one's
/// reason, and how many more there are; empty where nothing is.
std::string reason_of(std::span<const box_health *const> boxes);

} // namespace uncore
