// SPDX-License-Identifier: GPL-2.0-or-later
#include "counting/metric_files.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "process/input_file.hpp"
#include "process/user_folder.hpp"
#include "text.hpp"

namespace cli {

using json = nlohmann::ordered_json;
using uncore::errc;
using uncore::metric_definition;

/// Largest size of a file, in bytes.
static constexpr size_t largest_file = 1 << 20;

/// Keys of events/README.md and of perf that have no effect here.
static constexpr std::string_view ignored_keys[] = {"Box",
						    "Section",
						    "Family",
						    "Misprint",
						    "MetricConstraint",
						    "PublicDescription",
						    "MetricThreshold",
						    "MetricgroupNoGroup",
						    "DefaultMetricgroupName",
						    "Compat",
						    "Unit"};

static const std::vector<std::string_view> known_keys = {
	"MetricName", "MetricExpr", "MetricGroup", "BriefDescription",
	"ScaleUnit",  "Range",	    "Weight",	   "Note"};

static uncore::error invalid(const std::string &message)
{
	return {errc::invalid, message};
}

/// Parse the number that a text begins with, and remove the number.
static bool take_number(std::string_view &text, double &number)
{
	const char *end = text.data() + text.size();
	const bool is_number =
		!text.empty() && (std::isdigit(text.front()) ||
				  text.front() == '.' || text.front() == '-');
	const auto [rest, error] = std::from_chars(text.data(), end, number);

	if (!is_number || error != std::errc())
		return false;
	text.remove_prefix(size_t(rest - text.data()));
	return true;
}

/// Parse "64Bytes".
static uncore::result<void> set_unit(metric_definition &metric,
				     const std::string &text)
{
	std::string_view rest = text;

	if (!take_number(rest, metric.scale) || metric.scale == 0 ||
	    rest.size() > 20)
		return invalid(fmt::format(
			"ScaleUnit {} is not a factor and a unit, such as 1e-6MB/s",
			uncore::quote(text)));
	metric.unit = rest;
	return {};
}

/// Parse "0..100", or "0.." without a highest value.
static uncore::result<void> set_range(metric_definition &metric,
				      const std::string &text)
{
	// "0..5" begins with the number "0.", too.
	const size_t dots = text.find("..");
	std::string_view low = std::string_view(text).substr(0, dots), high;
	bool valid = dots != text.npos;

	if (valid)
		high = std::string_view(text).substr(dots + 2);
	valid = valid && take_number(low, metric.low) && low.empty();
	if (!high.empty())
		valid = valid && take_number(high, metric.high) &&
			high.empty() && metric.high > metric.low;
	if (!valid)
		return invalid(fmt::format(
			"Range {} is not the lowest and the highest value, such as 0..100 or 0..",
			uncore::quote(text)));
	return {};
}

/// Get a text, or an array of texts, which blanks join.
static uncore::result<std::string> text_of(const std::string &key,
					   const json &value)
{
	std::string text;

	for (const json &part :
	     value.is_array() ? value : json::array({value})) {
		if (!part.is_string())
			return invalid(fmt::format(
				"the value of {} is not a text: put it into quotes",
				uncore::quote(key)));
		text += (text.empty() ? "" : " ") + part.get<std::string>();
	}
	if (std::any_of(text.begin(), text.end(), uncore::is_control))
		return invalid(fmt::format("{} has a control character",
					   uncore::quote(key)));
	return text;
}

static uncore::error unknown_key(const std::string &key)
{
	const auto near = uncore::nearest_names(key, known_keys, 1);

	return invalid(fmt::format(
		"there is no key {}{}", uncore::quote(key),
		near.empty()
			? fmt::format(", only {}", fmt::join(known_keys, ", "))
			: fmt::format(": did you mean {}?", near.front())));
}

/// Convert a metric of a file, as far as its texts are valid; the name comes
/// first, for messages.
static uncore::result<void> convert(const json &object,
				    metric_definition &metric)
{
	std::string range, unit, groups;
	const struct {
		std::string_view key;
		std::string *text;
	} texts[] = {{"MetricName", &metric.name},
		     {"MetricExpr", &metric.expression},
		     {"MetricGroup", &groups},
		     {"BriefDescription", &metric.description},
		     {"ScaleUnit", &unit},
		     {"Range", &range},
		     {"Weight", &metric.weight},
		     {"Note", &metric.note}};

	if (!object.is_object())
		return invalid("it is not an object: write it in braces");
	for (const auto &[key, text] : texts) {
		const auto member = object.find(key);

		if (member == object.end())
			continue;

		auto value = text_of(std::string(key), *member);

		if (!value)
			return value.error();
		*text = *std::move(value);
	}
	for (const auto &[key, value] : object.items())
		if (!std::count(known_keys.begin(), known_keys.end(), key) &&
		    !std::count(std::begin(ignored_keys),
				std::end(ignored_keys), key))
			return unknown_key(key);
	if (metric.expression.empty())
		return invalid("MetricExpr is missing");
	if (!unit.empty())
		if (auto outcome = set_unit(metric, unit); !outcome)
			return outcome;
	if (range.empty())
		range = metric.unit == "%" ? "0..100" : "0..";
	for (const std::string_view group : uncore::split(groups, ';'))
		if (!uncore::trim(group).empty())
			metric.groups.emplace_back(uncore::trim(group));
	return set_range(metric, range);
}

/// Parse JSON.  Errors: errc::invalid, with line and column.
static uncore::result<json> parse_json(const std::string &text)
{
	try {
		return json::parse(text);
	} catch (const json::exception &failure) {
		const std::string_view message = failure.what();

		return invalid(
			fmt::format("it is not JSON: {}",
				    message.substr(message.find("] ") + 2)));
	}
}

/// Add a definition, unless one of an earlier folder hides it.
/// @param own number of definitions of earlier folders.
void metric_files::add(metric_definition &&definition, const std::string &path,
		       size_t own)
{
	for (size_t i = 0; i < own; i++)
		if (uncore::same_name(definitions_[i].name, definition.name))
			return;
	definitions_.push_back(std::move(definition));
	files_.push_back(path);
}

std::string metric_files::line(std::string_view file, std::string_view metric,
			       std::string_view problem)
{
	return fmt::format("{}{}metric {}: {}", file, file.empty() ? "" : ": ",
			   metric, problem);
}

void metric_files::read_file(const std::string &path, size_t own)
{
	const auto text = cli::read_file(path, largest_file);

	if (!text) {
		problems_.push_back(
			fmt::format("{}: {}", path, text.error().message));
		return;
	}

	const auto metrics = parse_json(*text);

	if (!metrics || !metrics->is_array()) {
		problems_.push_back(fmt::format(
			"{}: {}", path,
			metrics ? "it is not an array of metrics: write them in brackets"
				: metrics.error().message));
		return;
	}
	for (size_t i = 0; i < metrics->size(); i++) {
		metric_definition definition;
		const auto outcome = convert((*metrics)[i], definition);

		if (outcome)
			add(std::move(definition), path, own);
		else
			problems_.push_back(
				line(path,
				     definition.name.empty()
					     ? fmt::format("number {}", i + 1)
					     : definition.name,
				     outcome.error().message));
	}
}

void metric_files::read_folder(const std::string &folder)
{
	const size_t own = definitions_.size();
	std::vector<std::string> paths;
	std::error_code failure;

	for (std::filesystem::directory_iterator file(folder, failure), end;
	     !failure && file != end; file.increment(failure))
		if (file->path().extension() == ".json")
			paths.push_back(file->path());
	if (failure && failure != std::errc::no_such_file_or_directory)
		problems_.push_back(
			fmt::format("{}: {}", folder, failure.message()));
	std::sort(paths.begin(), paths.end());
	for (const std::string &path : paths)
		read_file(path, own);
}

metric_files::metric_files(const uncore::topology &machine,
			   const std::vector<metric_definition> &written)
	: definitions_(written), files_(written.size()), metrics_(machine)
{
	if (const std::string folder = user_folder("XDG_CONFIG_HOME", ".config");
	    !folder.empty())
		read_folder(folder + "/metrics.d");
	read_folder("/etc/uncore/metrics.d");
	metrics_ = uncore::own_metrics(machine, definitions_);
}

uncore::result<metric_definition> metric_files::parse(std::string_view text)
{
	const size_t equals = text.find('=');
	metric_definition metric;

	metric.name = uncore::trim(text.substr(0, equals));
	if (equals == text.npos || text.substr(equals).starts_with("==") ||
	    metric.name.find_first_of("/@ ") != metric.name.npos)
		return invalid(
			fmt::format("{} has no name: write NAME = EXPRESSION",
				    uncore::quote(text)));
	metric.expression = uncore::trim(text.substr(equals + 1));
	return metric;
}

std::vector<std::string> metric_files::problems() const
{
	std::vector<std::string> lines = problems_;

	for (size_t i = 0; i < metrics_.size(); i++)
		if (const auto metric = metrics_.metric(i); !metric)
			lines.push_back(line(files_[i],
					     metrics_.definition(i).name,
					     metric.error().message));
	return lines;
}

} // namespace cli
