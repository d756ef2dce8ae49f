// SPDX-License-Identifier: GPL-2.0-or-later
// An event that is open on one CPU.
#pragma once

#include <uncore/error.hpp>
#include <uncore/event.hpp>

#include "perf_events.hpp"

namespace cli {

/// An event that is open on one CPU, for BPF programs to read.
class cpu_event {
public:
	/// Errors: as of uncore::perf_events.
	static uncore::result<cpu_event> open(const uncore::event &event,
					      const perf_event_attr &attributes,
					      int cpu);

	int fd() const { return opened_.fd(0, 0); }
	uncore::result<uncore::reading> read() const
	{
		return opened_.read(0, 0);
	}

private:
	uncore::perf_events opened_;
};

/// A box that died keeps its events at their last count; only who opens a new
/// one hears of it.
/// @return false when it is certain that the event's box is dead.
bool box_answers(const uncore::event &event, int cpu);

} // namespace cli
