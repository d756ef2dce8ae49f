// SPDX-License-Identifier: GPL-2.0-or-later
// Tables that exporter/tables.py makes of the event catalogue.
#pragma once

#include <span>

#include "exporter/series.hpp"

namespace cli {

struct tables {
	static const std::span<const series> all_series;
	/// Labels of the box types of which a generation has several boxes.
	static const std::span<const instance_label> labels;
	/// Limits by generation, a JSON text.
	static const char *const limits;
	/// Rules of uncore diagnose, a JSON text.
	static const char *const rules;
};

} // namespace cli
