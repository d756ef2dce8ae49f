// SPDX-License-Identifier: GPL-2.0-or-later
// Events of a text, counted while something happens.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/catalogue.hpp>

#include "plan.hpp"
#include "session.hpp"

namespace cli {

/// What an event counted in a box of a package.
struct counted {
	std::string name;
	const uncore::pmu_info *box;
	int package;
	uncore::count count;
};

/// The event with which to try whether a PMU counts at all, where event=0 is none as
/// its registers have no event select; else nullptr.
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

	/// Counts since the first of these.
	uncore::result<std::vector<counted>> so_far();

private:
	struct place {
		std::string name;
		const uncore::pmu_info *box;
		uncore::counter_id id;
	};

	counters(uncore::session opened, std::vector<place> places)
		: session_(std::move(opened)), places_(std::move(places))
	{
	}
	std::vector<counted> totals() const;

	uncore::session session_;
	std::vector<place> places_;
	bool enabled_ = false;
};

} // namespace cli
