// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Metrics of the catalogue on a machine: the counters that each metric needs,
/// and its value for a box, a package, or the whole machine.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/catalogue.hpp>
#include <uncore/counter_set.hpp>
#include <uncore/error.hpp>
#include <uncore/topology.hpp>

#include "plan.hpp"
#include "session.hpp"

namespace uncore {

/// A metric's value for one box, package or machine.  Not a number after a
/// division by 0, if an event was never counted, if the value is outside the
/// metric's possible range, or if the error is larger than the value.
struct metric_value {
	const pmu_info *pmu = nullptr; ///< with scope::box
	int package = -1;	       ///< -1 with scope::machine
	double value = 0;	       ///< in the metric's unit
	double error = 0;	       ///< standard error from scaling
	double share = 1;	       ///< smallest running share of its events
	/// Mean time for which the events were enabled, the value of
	/// duration_time in the metric.
	std::chrono::nanoseconds time{};
	/// Reason for a missing value, or the boxes missing from the value, as
	/// text for the user; empty without a problem.
	std::string reason{};
};

class metric {
public:
	/// Add the events of a metric to a plan.
	/// Errors: errc::unsupported, errc::not_found (the driver lacks an
	/// event, a field or a PMU, named in the message), errc::conflict,
	/// errc::invalid (the expression).
	static result<metric> prepare(const metric_info &info,
				      const topology &machine,
				      planner &counting);

	/// Check whether a name is not of an event, but of a number that
	/// evaluate() has: duration_time, #num_packages.
	static bool defines(std::string_view name);
	/// "#num_dies, #num_packages, ..."
	static std::string defined_names();

	const metric_info &info() const { return *info_; }

	/// Register the sums of the metric's events, for each box, each package
	/// or the machine, with the session, which then estimates the errors of
	/// the sums and of the metric.  Call before session::enable().  Without
	/// this call, the errors of the events are taken as independent.
	void watch(session &counts, uncore::scope where);

	/// Evaluate the metric for each box, for each package, or for the
	/// machine.  Values are in the order of packages, then of
	/// topology::pmus().  The machine's value is computed from the sums
	/// over all packages.  If the metric has a weight, it is the weighted
	/// mean of the packages' values.  duration_time is the time for which
	/// the events were enabled.
	std::vector<metric_value> evaluate(const session &counts,
					   uncore::period when,
					   uncore::scope where) const;

private:
	struct parts;

	const metric_info *info_ = nullptr;
	std::shared_ptr<parts> parts_;
};

} // namespace uncore
