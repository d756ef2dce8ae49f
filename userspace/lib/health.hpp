// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Health of boxes: boxes may be missing or die, CPUs go offline with their
/// events, clocks stop, and other programs write registers.
#pragma once

#include <span>
#include <string>

#include <uncore/topology.hpp>

namespace uncore {

/// Condition of a box, from best to worst.
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
	/// CPU on which its events were opened, -1 if no event was opened.
	int cpu = -1;
	uncore::condition condition = condition::counting;

	/// Check that the box still counts.  Totals keep the counts of a box
	/// that no longer counts.
	bool measured() const { return condition < condition::absent; }
	/// Describe the problem for the user: "hswep_imc_2 of socket 1 does not
	/// answer any more"; empty without a problem.
	std::string reason() const;
};

/// Describe the problems of several boxes for the user: the reason of the worst
/// box, and the number of other reasons; empty without a problem.
std::string reason_of(std::span<const box_health *const> boxes);

} // namespace uncore
