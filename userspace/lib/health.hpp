// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Health of boxes while a session counts.  A box may not answer at all, or
/// stop answering (it is dead); a CPU may go offline, which ends its events; a
/// box's clock may stop; and another program may write the box's registers.
#pragma once

#include <span>
#include <string>

#include <uncore/topology.hpp>

namespace uncore {

/// Condition of a box, from best to worst.
enum class condition {
	counting,
	disturbed, ///< another program wrote registers of the package
	stopped,   ///< the box's clock did not advance
	absent,	   ///< the box did not answer when the counters were opened
	dead,	   ///< the box stopped answering
	offline,   ///< the CPU of the events went offline, which ended them
};

/// Condition of a box of a package, or of a CPU with core events.
struct box_health {
	const pmu_info *pmu = nullptr; ///< nullptr for core events
	int package = -1;	       ///< -1 if the package is unknown
	/// CPU on which its events were opened, -1 if no event was opened.
	int cpu = -1;
	uncore::condition condition = condition::counting;

	/// Check that the box still counts.  After that, totals keep its last
	/// counts.
	bool measured() const { return condition < condition::absent; }
	/// Describe the condition for the user: "hswep_imc_2 of socket 1 does
	/// not answer any more"; empty for a box that counts.
	std::string reason() const;
};

/// Describe the problems of several boxes for the user: the reason of the box
/// in the worst condition, and the number of other reasons; empty if all boxes
/// count.
std::string reason_of(std::span<const box_health *const> boxes);

} // namespace uncore
