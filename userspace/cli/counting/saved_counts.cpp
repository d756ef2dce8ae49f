// SPDX-License-Identifier: GPL-2.0-or-later
#include "counting/saved_counts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "output/document.hpp"
#include "process/input_file.hpp"
#include "text.hpp"

namespace cli {

using json = nlohmann::ordered_json;
using uncore::errc;

/// Largest size of a file, in bytes.
static constexpr size_t largest_saved = 64 << 20;

static double number_of(const json &object, const char *key)
{
	const json &value = object.at(key);

	return value.is_null() ? std::numeric_limits<double>::quiet_NaN()
			       : value.get<double>();
}

static std::string text_of(const json &object, const char *key)
{
	const json &value = object.at(key);

	return value.is_null() ? "" : value.get<std::string>();
}

/// Return a number's error: the larger one of the error from the differences
/// between runs and the error from multiplexing.  The former contains the
/// latter, but is uncertain with few runs.
static measured_number measured(const json &entry, unsigned runs)
{
	const double value = number_of(entry, "value");
	const double error = number_of(entry, "error");
	// A file of one run without -r has one error, from multiplexing.
	const double scaling = entry.contains("multiplexing_error")
				       ? number_of(entry, "multiplexing_error")
				       : error;

	if (runs > 1 && !(scaling > error))
		return {value, error, double(runs - 1)};
	return {value, scaling, std::numeric_limits<double>::infinity()};
}

static saved_number number_from(const json &entry, const char *kind,
				unsigned runs)
{
	return {kind == std::string_view("metric"),
		entry.at(kind).get<std::string>(),
		entry.at("scope").get<std::string>(),
		entry.value("socket", -1),
		entry.value("pmu", ""),
		entry.at("unit").get<std::string>(),
		measured(entry, runs),
		entry.value("reason", "")};
}

static saved_counts counts_from(const json &document)
{
	saved_counts counts;

	counts.host = text_of(document, "host");
	counts.generation = text_of(document, "generation");
	counts.start = text_of(document, "start");
	counts.seconds = document.at("seconds").get<double>();
	counts.runs = document.value("runs", 1U);
	for (const json &entry : document.at("events"))
		counts.numbers.push_back(
			number_from(entry, "event", counts.runs));
	for (const json &entry : document.at("metrics"))
		counts.numbers.push_back(
			number_from(entry, "metric", counts.runs));
	return counts;
}

/// Return whether a document has the numbers of a whole run.
static bool is_whole(const json &document)
{
	const std::string subcommand =
		document.at("subcommand").get<std::string>();

	return document.at("schema").get<int>() == json_schema &&
	       (subcommand == "stat" || subcommand == "metric") &&
	       document.at("total").get<bool>();
}

uncore::result<saved_counts> saved_counts::read(const std::string &path)
{
	const auto text = read_file(path, largest_saved);
	std::optional<saved_counts> counts;

	if (!text)
		return uncore::error{
			text.error().code,
			fmt::format("{}: {}", path, text.error().message)};
	try {
		for (const std::string_view line : uncore::split(*text, '\n')) {
			if (uncore::trim(line).empty())
				continue;

			const json document = json::parse(line);

			if (is_whole(document))
				counts = counts_from(document);
		}
	} catch (const json::exception &) {
		counts.reset();
	}
	if (!counts)
		return uncore::error{
			errc::invalid,
			fmt::format(
				"{} is not a file of uncore stat --save or --json",
				path)};
	counts->path = path;
	return *std::move(counts);
}

} // namespace cli
