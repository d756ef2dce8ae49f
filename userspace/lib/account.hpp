// SPDX-License-Identifier: LGPL-2.1-or-later
// Accounts: counts of parts of the time for which a counter set counts, such as
// the regions of a program.  After each read, charge_account() adds the growth
// since the read before to an account.  show_account() makes an account the
// interval, whose values counter_set::values() returns.  Internal to the
// library and the command.
#pragma once

#include <chrono>
#include <vector>

#include "estimate.hpp"

namespace uncore {

class counter_set;

struct account {
	/// Growth of each counter, by the session's numbers of the counters;
	/// empty before the first charge.
	std::vector<stratum> counters;
};

/// Add the growth of a package's counters between the last two reads to an
/// account.  @return the time between the last two reads.
std::chrono::nanoseconds charge_account(const counter_set &counters,
					account &charged, int package);

/// Make an account the interval of the counter set, with a length of @p time,
/// until the next read.  The error of a count that was multiplexed is unknown.
void show_account(counter_set &counters, const account &shown,
		  std::chrono::nanoseconds time);

} // namespace uncore
