// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the events of an event string for the checks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/catalogue.hpp>

#include "plan.hpp"
#include "session.hpp"

namespace cli {

/// Count of an event in a box of a package.
struct counted {
	std::string name;
	const uncore::pmu_info *box;
	int package;
	uncore::count count;
};

/// Return an event with which to try whether a PMU's events open.  nullptr if event=0 will
/// do; it does not for PMUs without a format field "event".
const uncore::event_info *event_for_trial(const uncore::topology &machine,
					  const uncore::pmu_info &pmu);

class counters {
public:
	/// Errors: those of parse_events(), planner::add(), session::open().
	static uncore::result<counters> open(const uncore::topology &machine,
					     std::string_view events);

	/// Count while @p work runs.
	uncore::result<std::vector<counted>>
	during(const std::function<void()> &work);

	/// Return counts since the first call of so_far().
	uncore::result<std::vector<counted>> so_far();

private:
	struct counter_entry {
		std::string name;
		const uncore::pmu_info *box;
		uncore::counter_id id;
	};

	counters(uncore::session session, std::vector<counter_entry> entries)
		: session_(std::move(session)), entries_(std::move(entries))
	{
	}
	std::vector<counted> totals() const;

	uncore::session session_;
	std::vector<counter_entry> entries_;
	bool enabled_ = false;
};

} // namespace cli
