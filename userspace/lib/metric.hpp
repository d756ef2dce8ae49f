// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The catalogue's metrics on a machine: what each needs to be counted, and its
/// value for a box, a package, or the whole machine.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <uncore/catalogue.hpp>
#include <uncore/counter_set.hpp>
#include <uncore/error.hpp>
#include <uncore/topology.hpp>

#include "plan.hpp"
#include "session.hpp"

namespace uncore {

/// A metric's value at one place.  Not a number where it divides by 0, where
/// an event was never counted, where it is outside of the metric's possible
/// range, or where its error is larger than the value itself.
struct metric_value {
	const pmu_info *pmu = nullptr; ///< with scope::box
	int package = -1;	       ///< -1 with scope::machine
	double value = 0;	       ///< in the metric's unit
	double error = 0;	       ///< standard error that scaling brings
	double share = 1; ///< least part of the time that one of its events ran
	/// duration_time: for how long its events were enabled, on average.
	std::chrono::nanoseconds time{};
	/// The reason for a missing value, or which boxes are missing from it,
	/// for people; empty if nothing is wrong.
	std::string reason{};
};

class metric {
public:
	/// Adds what a metric needs to a plan.
	/// Errors: errc::unsupported, errc::not_found (the driver lacks an
	/// event, a field or a PMU: says which), errc::conflict, errc::invalid
	/// (the expression).
	static result<metric> prepare(const metric_info &info,
				      const topology &machine,
				      planner &counting);

	const metric_info &info() const { return *info_; }

	/// Has the session add up what the values of each box, package or of
	/// the machine need, so that the session estimates their errors.  To be
	/// called before session::enable(); without, the errors of parts add
	/// up.
	void watch(session &counts, uncore::scope where);

	/// The value of each box, package, or the machine; by package, then in
	/// the order of topology::pmus().  The machine's is of the sums over
	/// all packages or, where the metric has a weight, the packages' mean.
	/// duration_time is the time for which the events were enabled.
	std::vector<metric_value> evaluate(const session &counts,
					   uncore::period when,
					   uncore::scope where) const;

private:
	struct parts;

	const metric_info *info_ = nullptr;
	std::shared_ptr<parts> parts_;
};

} // namespace uncore
