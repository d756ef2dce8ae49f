// SPDX-License-Identifier: GPL-2.0-or-later
// Families of samples, and the forms in which scrapers such as Prometheus read them:
// OpenMetrics 1.0, the Prometheus text format 0.0.4, and JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <uncore/topology.hpp>

namespace cli {

enum class exposition { openmetrics, prometheus, json };

/// A value with its labels.
struct sample {
	std::vector<std::pair<std::string, std::string>> labels;
	double value = 0;
};

/// Samples with the same meaning.  The name has neither _total (counter) nor
/// _info (info): render() adds the suffix where a form has it.
struct family {
	enum class kind { counter, gauge, info };

	std::string name;
	kind type = kind::gauge;
	/// Unit, if the name ends in a unit; else empty.
	std::string unit;
	std::string help; ///< a sentence
	std::vector<sample> samples = {};
};

/// Write families in a form.
/// @param machine for the head of a JSON document.
std::string render(const std::vector<family> &families, exposition form,
		   const std::optional<uncore::topology> &machine = {});
const char *content_type(exposition form);

/// Choose the form that an Accept header asks for: OpenMetrics if the header
/// names OpenMetrics and gives it at least the weight of the Prometheus format.
/// The Prometheus format is the default, also if the header accepts neither.
exposition choose_form(std::string_view accept);

} // namespace cli
