// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of uncore diagnose, and their findings.  A rule compares a metric with two
// thresholds: from the first one on its finding is reported, from the second one on it
// limits the machine.  events/diagnose.json has the rules, and exporter/tables.py turns
// its roles into box types.  The verdicts of exporter/limits.hpp have the thresholds of
// the same rules.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/catalogue.hpp>

#include "exporter/memory_peaks.hpp"

namespace cli {

/// Value of a metric for a socket or a box.
struct reading {
	double value = std::nan("");
	/// Standard error; not a number if it is unknown.
	double error = std::nan("");
	/// Part of the time of counting for which the events were counted, 0 to 1.
	double share = 1;
	std::string unit = {};
};

/// Socket, or box of a socket, and the value there.
struct place_reading {
	int socket = 0;
	std::string pmu = {}; ///< "hswep_imc_2"; empty for a socket
	reading number = {};
};

/// Values of metrics, by the metric's name.
class readings {
public:
	void add(std::string_view metric, place_reading place);
	/// Values of all sockets (@p by_box: of all boxes), in the order of adding.
	std::vector<place_reading> of(std::string_view metric,
				      bool by_box = false) const;
	/// Value of a socket; its value is not a number without a reading.
	reading of_socket(std::string_view metric, int socket) const;

private:
	std::map<std::string, std::vector<place_reading>, std::less<>> metrics_;
};

struct rule {
	std::string finding; ///< "memory bandwidth"
	std::string box;     ///< box type, or empty
	/// The metric that has the largest part of full counts.
	std::vector<std::string> metrics;
	/// The value is the percentage of this metric; empty: of the metric itself.
	std::string divisor;
	/// Value without a problem, value from which on the finding is reported,
	/// and value from which on it limits.  full may be less than good.
	double good = 0, from = 0, full = 0;
	/// Metrics whose sum is the traffic that the value is of: with less than
	/// least the importance falls in proportion.  Empty: any traffic.
	std::vector<std::string> traffic;
	double least = 0;
	/// Compare sockets, or compare one box or socket with the mean of all.
	enum class comparison { none, boxes, sockets } each = comparison::none;
	/// Factor to the mean from which on a box or socket is reported.
	double times = 0;
	std::vector<std::string> numbers; ///< metrics that explain the value
	std::string seen, look, helps, source;

	/// What takes the place of members where the peaks of all sockets were
	/// measured: the value is then the percentage of a socket's peak that a
	/// rate of bytes is.  The metric is empty if nothing does.
	struct measured_rule {
		std::string metric;
		double from = 0, full = 0;
		std::string seen, source;
	} measured;
	/// Measured peaks in bytes a second by socket, once they are used.
	std::map<int, double> peaks;

	/// Importance from which on the finding is reported; 1 is the limit.
	double notable() const { return (from - good) / (full - good); }
	/// Metrics without which the rule cannot be used.
	std::vector<std::string> needed() const;
};

struct absent_rule {
	std::string finding, reason;
	/// Counting for longer helps.
	bool lacks_time = false;
};

/// Rules that a generation has the metrics for.
struct rule_set {
	std::vector<rule> rules;
	std::vector<absent_rule> absent;

	static rule_set of(const uncore::catalogue &known);
	/// Find the rule whose metric gives the bandwidth that --calibrate measures;
	/// nullptr if the generation has none.
	const rule *calibrated() const;
	/// Compare with measured peaks where rules can, if the peak of each socket of
	/// the machine was measured.
	void use(const memory_peaks &peaks, const uncore::topology &machine);
	/// Remove the rules that need a metric that the machine cannot count.
	void remove(std::string_view metric, std::string_view reason);
};

/// Result of a rule.
struct assessment {
	const cli::rule *rule;
	/// Measured places in the order of importance.  reading.value is the
	/// rule's value.
	std::vector<place_reading> places;
	/// Part of the way from good to full in the first place, at most that of
	/// its traffic: 1 or more limits.
	double importance = 0;
	double error = std::nan(""); ///< standard error of the importance

	bool is_finding() const { return importance >= rule->notable(); }
	bool limits() const { return importance >= 1; }
	/// Importance less its error; if the error is not known, that of a value
	/// that is just reported.
	double sure_importance() const
	{
		return std::isnan(error)
			       ? std::min(importance, rule->notable())
			       : importance - error;
	}
	/// Check that the finding is not by chance: its importance less two
	/// standard errors is still reported.
	bool is_sure() const
	{
		return importance - 2 * error >= rule->notable();
	}
	/// "memory transfers 72 % of its peak"
	std::string seen() const;
};

/// Assess each rule that was measured.
/// @return first the findings, then the other rules, both by importance less its error:
/// a doubtful value is not the first finding.
std::vector<assessment> assess(std::span<const rule> rules,
			       const readings &numbers);

/// List the rules that assess() leaves out, because the numbers have no value for them.
/// The reason is the lack of time on the counters, or of traffic to take a share of.
std::vector<absent_rule> not_judged(std::span<const rule> rules,
				    const readings &numbers);

} // namespace cli
