// SPDX-License-Identifier: GPL-2.0-or-later
// Choice of the events of series.json that uncore serve counts on this machine: as many
// of the events that the machine has as each box can count without multiplexing.
#pragma once

#include <deque>
#include <vector>

#include <uncore/event.hpp>
#include <uncore/topology.hpp>

#include "exporter/series.hpp"
#include "plan.hpp"

namespace cli {

/// An event of all_series() at a box.
struct chosen_event {
	size_t family, event; ///< indices
	const uncore::event *what; ///< in choice::events
	uncore::counter_id id;	   ///< of the event in choice::plan
};

/// Chosen events, and a plan that counts them without multiplexing.
struct choice {
	std::deque<uncore::event> events;
	std::vector<chosen_event> chosen;
	uncore::plan plan;
};

/// Choose the events to count.
/// @param machine has to outlive the choice.
/// @param with_accounts whether BPF programs also count the memory traffic of cgroups.
/// With intel_uncore they need counters of their own, so families that give way
/// (series::gives_way) are left out.
/// Errors: errc::no_driver, errc::system.
uncore::result<choice> choose_events(const uncore::topology &machine,
				     bool with_accounts = false);

} // namespace cli
