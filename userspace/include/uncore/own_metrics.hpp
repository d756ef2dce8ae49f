// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Metrics that a program defines, beside those of the catalogue.
///
///     uncore::own_metrics mine(machine, {{.name = "read_bw",
///             .expression = "imc/cas_count.rd/ * 64 / duration_time",
///             .unit = "MB/s", .scale = 1e-6}});
///
///     if (const auto found = mine.find("read_bw"))
///             (void)counters.add_metric(*found->front());
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/catalogue.hpp>
#include <uncore/error.hpp>
#include <uncore/export.hpp>
#include <uncore/topology.hpp>

namespace uncore {

/// A metric in its author's words. Programs do not change size, which tells the
/// library which members the program was compiled with.
struct metric_definition {
	size_t size = sizeof(metric_definition);
	/// Letters, digits, _ and ., the first a letter or _.
	std::string name{};
	/// Formula as of metric_info::expression. Events may also be written as
	/// PMU/EVENT/. A name of another metric stands for its formula, without
	/// its scale, as in perf.
	std::string expression{};
	std::string description{}, note{};
	std::string unit{};
	double scale = 1; ///< factor from the expression's value to @c unit
	/// Lowest and highest possible value, in @c unit.
	double low = -std::numeric_limits<double>::infinity();
	double high = std::numeric_limits<double>::infinity();
	std::vector<std::string> groups{};
	/// As of metric_info::weight; empty: the weight of the first metric in
	/// the expression that has one.
	std::string weight{};
};

/// Defined metrics on a machine, with the names in them resolved. The metrics
/// exist as long as an own_metrics that has them; copies share them.
class UNCORE_EXPORT own_metrics {
public:
	explicit own_metrics(const topology &machine,
			     std::vector<metric_definition> definitions = {});

	/// Number of definitions.
	size_t size() const;
	const metric_definition &definition(size_t index) const;
	/// The metric of a definition. Its events may be missing on the
	/// machine, see check_available().
	/// Errors: errc::invalid (the name, the expression or the weight),
	/// errc::conflict (a metric of the catalogue, a group, an event or an
	/// earlier definition has the name; metrics that are defined by one
	/// another), errc::not_found (a name such as #num_slots is not known).
	result<const metric_info *> metric(size_t index) const;

	/// Find metrics by name, here and in the catalogue, as find_metrics()
	/// does.
	/// Errors: of metric(); errc::not_found (the message has the nearest
	/// names).
	result<std::vector<const metric_info *>>
	find(std::string_view names) const;

private:
	struct UNCORE_HIDDEN state;
	std::shared_ptr<const state> state_;
};

} // namespace uncore
