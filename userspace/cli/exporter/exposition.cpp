// SPDX-License-Identifier: GPL-2.0-or-later
// Writes families of samples in the forms that scrapers read, and chooses the form by
// the Accept header of a request.
#include "exporter/exposition.hpp"

#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "output/document.hpp"
#include "terminal/text.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;
using buffer = std::back_insert_iterator<std::string>;

const char *name_of(family::kind type)
{
	switch (type) {
	case family::kind::counter:
		return "counter";
	case family::kind::info:
		return "info";
	case family::kind::gauge:
		break;
	}
	return "gauge";
}

/// Return the suffix that the names of samples have in families of a type.
const char *suffix_of(family::kind type)
{
	switch (type) {
	case family::kind::counter:
		return "_total";
	case family::kind::info:
		return "_info";
	case family::kind::gauge:
		break;
	}
	return "";
}

std::string escaped(std::string_view text, bool quotes)
{
	std::string safe;

	for (const char c : printable(text)) {
		if (c == '\\' || (quotes && c == '"'))
			safe += '\\';
		safe += c;
	}
	return safe;
}

/// Format a value as the shortest text that reads back as the same number.
std::string number(double value)
{
	if (std::isnan(value))
		return "NaN";
	if (std::isinf(value))
		return value > 0 ? "+Inf" : "-Inf";
	return fmt::format("{}", value);
}

void put_sample(std::string &text, const family &owner, const sample &entry)
{
	const char *separator = "{";

	text += owner.name;
	text += suffix_of(owner.type);
	for (const auto &[name, value] : entry.labels) {
		fmt::format_to(buffer(text), "{}{}=\"{}\"", separator, name,
			       escaped(value, true));
		separator = ",";
	}
	if (!entry.labels.empty())
		text += '}';
	fmt::format_to(buffer(text), " {}\n", number(entry.value));
}

/// Write a family.  In the Prometheus form the HELP and TYPE lines have the name with the
/// suffix; this form has neither the type "info" nor UNIT lines.
void put_family(std::string &text, const family &exported, bool openmetrics)
{
	const std::string name =
		openmetrics ? exported.name
			    : exported.name + suffix_of(exported.type);
	const bool info = exported.type == family::kind::info;

	fmt::format_to(buffer(text), "# HELP {} {}\n# TYPE {} {}\n", name,
		       escaped(exported.help, openmetrics), name,
		       info && !openmetrics ? "gauge" : name_of(exported.type));
	if (openmetrics && !exported.unit.empty())
		fmt::format_to(buffer(text), "# UNIT {} {}\n", name,
			       exported.unit);
	for (const sample &entry : exported.samples)
		put_sample(text, exported, entry);
}

std::string render_json(const std::vector<family> &families,
			const std::optional<uncore::topology> &machine)
{
	json document = begin_document("serve", machine ? &*machine : nullptr);
	json &metrics = document["metrics"] = json::array();

	for (const family &exported : families) {
		json samples = json::array();

		for (const sample &entry : exported.samples) {
			json labels = json::object();

			for (const auto &[name, value] : entry.labels)
				labels[name] = value;
			samples.push_back({{"labels", std::move(labels)},
					   {"value", entry.value}});
		}
		metrics.push_back(
			{{"name", exported.name + suffix_of(exported.type)},
			 {"type", name_of(exported.type)},
			 {"unit", exported.unit},
			 {"help", exported.help},
			 {"samples", std::move(samples)}});
	}
	return document_line(document);
}

std::string_view trimmed(std::string_view text)
{
	while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
		text.remove_prefix(1);
	while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
		text.remove_suffix(1);
	return text;
}

/// Cut off the text before the next @p end, and @p end itself.
std::string_view cut(std::string_view &rest, char end)
{
	const size_t position = rest.find(end);
	const std::string_view first = rest.substr(0, position);

	rest.remove_prefix(position == rest.npos ? rest.size() : position + 1);
	return trimmed(first);
}

/// Parse a weight in thousandths; RFC 9110 §12.4.2 allows three digits.
/// @return 0 for an invalid weight.
unsigned weight_of(std::string_view text)
{
	unsigned value = 0, digits = 0;

	if (text.empty() || (text[0] != '0' && text[0] != '1') ||
	    text.size() > 5 || (text.size() > 1 && text[1] != '.'))
		return 0;
	value = unsigned(text[0] - '0');
	for (size_t i = 2; i < text.size(); i++, digits++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		value = 10 * value + unsigned(text[i] - '0');
	}
	for (; digits < 3; digits++)
		value *= 10;
	return value > 1000 ? 0 : value;
}

/// A media range of an Accept header.
struct media_range {
	std::string type, version;
	unsigned weight = 1000;
};

media_range parse_range(std::string_view text)
{
	media_range range;

	range.type = lower(cut(text, ';'));
	while (!text.empty()) {
		std::string_view parameter = cut(text, ';');
		const std::string name = lower(cut(parameter, '='));
		std::string_view value = trimmed(parameter);

		if (value.size() >= 2 && value.front() == '"' &&
		    value.back() == '"')
			value = value.substr(1, value.size() - 2);
		if (name == "q")
			range.weight = weight_of(value);
		else if (name == "version")
			range.version = value;
	}
	return range;
}

} // namespace

std::string render(const std::vector<family> &families, exposition form,
		   const std::optional<uncore::topology> &machine)
{
	std::string text;

	if (form == exposition::json)
		return render_json(families, machine);
	for (const family &exported : families)
		if (!exported.samples.empty())
			put_family(text, exported,
				   form == exposition::openmetrics);
	if (form == exposition::openmetrics)
		text += "# EOF\n";
	return text;
}

const char *content_type(exposition form)
{
	switch (form) {
	case exposition::openmetrics:
		return "application/openmetrics-text; version=1.0.0; charset=utf-8";
	case exposition::json:
		return "application/json";
	case exposition::prometheus:
		break;
	}
	return "text/plain; version=0.0.4; charset=utf-8";
}

exposition choose_form(std::string_view accept)
{
	unsigned openmetrics = 0;
	// Weights of ranges that match the Prometheus form.  The most specific
	// range counts.
	std::optional<unsigned> exact, text, any;

	while (!accept.empty()) {
		const media_range range = parse_range(cut(accept, ','));

		if (range.type == "application/openmetrics-text" &&
		    (range.version.empty() || range.version == "1.0.0"))
			openmetrics = std::max(openmetrics, range.weight);
		else if (range.type == "text/plain" &&
			 (range.version.empty() || range.version == "0.0.4"))
			exact = range.weight;
		else if (range.type == "text/*")
			text = range.weight;
		else if (range.type == "*/*")
			any = range.weight;
	}

	const unsigned plain = exact ? *exact : text ? *text : any.value_or(0);

	return openmetrics && openmetrics >= plain ? exposition::openmetrics
						   : exposition::prometheus;
}

} // namespace cli
