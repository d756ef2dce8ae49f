// SPDX-License-Identifier: GPL-2.0-or-later
// What is exported, and the forms in which scrapers read it: OpenMetrics 1.0,
// the Prometheus text format 0.0.4, and JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <uncore/topology.hpp>

namespace cli {

enum class exposition { openmetrics, prometheus, json };

/// Labels and a value.
struct sample {
	std::vector<std::pair<std::string, std::string>> labels;
	double value = 0;
};

/// Samples of one meaning.  A counter's name has no _total, and an info's no
/// _info: forms differ in where they want it.
struct family {
	enum class kind { counter, gauge, info };

	std::string name;
	kind type = kind::gauge;
	/// The name's last word, where that is a unit.
	std::string unit;
	std::string help; ///< a sentence
	std::vector<sample> samples = {};
};

/// @param machine for the head of a JSON document.
std::string render(const std::vector<family> &families, exposition form,
		   const std::optional<uncore::topology> &machine = {});
const char *content_type(exposition form);

/// The form of metrics that an Accept header asks for: OpenMetrics if the
/// header names it and prefers it at least as much as the other, which is the
/// default, also of a header that accepts neither.
exposition choose_form(std::string_view accept);

} // namespace cli
