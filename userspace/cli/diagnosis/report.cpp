// SPDX-License-Identifier: GPL-2.0-or-later
#include "diagnosis/report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <uncore/catalogue.hpp>

#include "output/csv.hpp"
#include "output/number.hpp"
#include "terminal/colour.hpp"
#include "terminal/layout.hpp"

namespace cli {

using json = nlohmann::ordered_json;

/// Boxes of a finding that are shown, the fullest.
static constexpr size_t most_boxes = 4;

std::vector<const assessment *> diagnosis::findings() const
{
	std::vector<const assessment *> list;

	for (const assessment &entry : assessments)
		if (entry.is_finding() && list.size() < most_findings)
			list.push_back(&entry);
	return list;
}

std::vector<const assessment *> diagnosis::unremarkable() const
{
	std::vector<const assessment *> list;

	for (const assessment &entry : assessments)
		if (!entry.is_finding())
			list.push_back(&entry);
	return list;
}

namespace {

/// Unit of a rule's value, from a place that was measured.
const std::string &unit_of(const assessment &entry)
{
	return entry.places.front().number.unit;
}

std::string error_of(const reading &number)
{
	return std::isnan(number.error)
		       ? "\u00b1 unknown"
		       : "\u00b1" + human(number.error, number.unit);
}

std::string name_of(const place_reading &place)
{
	return place.pmu.empty()
		       ? fmt::format("socket {}", place.socket)
		       : fmt::format("{} of socket {}", place.pmu, place.socket);
}

/// Sockets in their order; boxes in the order of importance.
std::vector<place_reading> shown_places(const assessment &entry)
{
	std::vector<place_reading> places = entry.places;

	if (entry.rule->each == rule::comparison::boxes)
		places.resize(std::min(places.size(), most_boxes));
	else
		std::sort(places.begin(), places.end(),
			  [](const place_reading &a, const place_reading &b) {
				  return a.socket < b.socket;
			  });
	return places;
}

/// "socket 0: 71.73 % ±0.10 %, socket 1: 64.70 % ±0.08 %"
std::string values_text(const assessment &entry)
{
	std::vector<std::string> parts;

	for (const place_reading &place : shown_places(entry))
		parts.push_back(fmt::format(
			"{}: {} {}", name_of(place),
			human(place.number.value, place.number.unit),
			error_of(place.number)));
	return fmt::format("{}", fmt::join(parts, ", "));
}

/// "mem_bw_reads_rate: 30.7 and 27.7 GiB/s", of each socket.
std::string numbers_text(const assessment &entry, const readings &numbers)
{
	std::vector<std::string> parts;

	for (const std::string &metric : entry.rule->numbers) {
		std::vector<std::string> values;

		for (const place_reading &place : numbers.of(metric))
			values.push_back(human(place.number.value,
					       place.number.unit));
		if (!values.empty())
			parts.push_back(fmt::format("{} {}", metric,
						    fmt::join(values, " and ")));
	}
	return fmt::format("{}", fmt::join(parts, ", "));
}

std::string sureness_text(const assessment &entry)
{
	const rule &rule = *entry.rule;
	const std::string &unit = unit_of(entry);

	return fmt::format(
		"{}; counted for {} of the time; reported from {} on, limits from {} on",
		entry.is_sure() ? "yes, two errors from the threshold or more"
		: std::isnan(entry.error)
			? "unknown, as it was counted once: count for longer (-d)"
			: "no, less than two errors from the threshold: count for longer (-d)",
		percent(entry.places.front().number.share),
		human(rule.from, unit), human(rule.full, unit));
}

/// Text in lines of at most a number of columns.
class lines_of {
public:
	lines_of(size_t columns, std::FILE *out) : columns_(columns), out_(out)
	{
	}
	void add(const std::string &head, std::string_view text)
	{
		for (const std::string &line : wrap(head, text, columns_))
			text_ += line + '\n';
	}
	void label(std::string_view name, std::string_view text)
	{
		if (!text.empty())
			add(fmt::format("   {:<8}", name), text);
	}
	void title(const std::string &text)
	{
		for (const std::string &line : wrap("", text, columns_))
			text_ += (out_ ? bold(out_, line) : line) + '\n';
	}
	void gap() { text_ += '\n'; }
	const std::string &text() const { return text_; }

private:
	size_t columns_;
	std::FILE *out_;
	std::string text_;
};

void add_finding(lines_of &lines, size_t rank, const assessment &entry,
		 const readings &numbers)
{
	lines.gap();
	lines.title(fmt::format("{}. {}{}: {}", rank, entry.rule->finding,
				entry.limits() ? " limits" : "", entry.seen()));
	lines.label("values", values_text(entry));
	lines.label("numbers", numbers_text(entry, numbers));
	lines.label("sure", sureness_text(entry));
	lines.label("look", entry.rule->look);
	lines.label("helps", entry.rule->helps);
}

/// "memory bandwidth 0.19 %"
std::string short_text(const assessment &entry)
{
	return fmt::format("{} {}", entry.rule->finding,
			   human(entry.places.front().number.value,
				 unit_of(entry)));
}

void add_others(lines_of &lines, const diagnosis &result)
{
	lines.gap();
	lines.title("No finding:");
	for (const assessment *entry : result.unremarkable())
		lines.add(fmt::format("   {:<22}", entry->rule->finding),
			  fmt::format("{}, reported from {} on ({})",
				      human(entry->places.front().number.value,
					    unit_of(*entry)),
				      human(entry->rule->from, unit_of(*entry)),
				      entry->rule->source));
	for (const auto &[title, rules] :
	     {std::pair("Not judged:", &result.not_judged),
	      std::pair("Left out:", &result.absent)}) {
		if (rules->empty())
			continue;
		lines.gap();
		lines.title(title);
		for (const absent_rule &entry : *rules)
			lines.add(fmt::format("   {:<22}", entry.finding),
				  entry.reason);
	}
}

/// Add a line about rules for which the run was too short.
void add_untimely(lines_of &lines, const std::vector<absent_rule> &rules)
{
	std::vector<std::string> names;

	for (const absent_rule &entry : rules)
		if (entry.lacks_time)
			names.push_back(entry.finding);
	if (names.empty())
		return;
	lines.gap();
	lines.add("", fmt::format("Not judged, because the events had no time on the "
				  "counters: {}; count for longer (-d)",
				  fmt::join(names, ", ")));
}

} // namespace

std::string text_of(const diagnosis &result, bool verbose, size_t columns,
		    std::FILE *out)
{
	lines_of lines(columns, out);
	const auto found = result.findings();

	lines.add("", fmt::format("Counted {:.1f} s, {} round{} of {}",
				  result.seconds, result.rounds,
				  result.rounds == 1 ? "" : "s",
				  fmt::join(result.groups, ", ")));
	for (size_t i = 0; i < found.size(); i++)
		add_finding(lines, i + 1, *found[i], result.numbers);
	if (found.empty()) {
		std::vector<std::string> looked;

		for (const assessment *entry : result.unremarkable())
			looked.push_back(short_text(*entry));
		lines.gap();
		lines.add("", fmt::format("Nothing stands out; looked at {}",
					  fmt::join(looked, ", ")));
	}
	add_untimely(lines, result.not_judged);
	if (verbose)
		add_others(lines, result);
	return lines.text();
}

std::string csv_of(const diagnosis &result)
{
	std::string text =
		csv_line({"rank", "finding", "importance", "limits", "sure",
			  "socket", "pmu", "value", "unit", "error", "running"});
	size_t rank = 0;
	const auto number = [](double value) {
		return std::isfinite(value) ? fmt::format("{}", value) : "";
	};

	for (const assessment *entry : result.findings()) {
		rank++;
		for (const place_reading &place : shown_places(*entry))
			text += csv_line({std::to_string(rank),
					  entry->rule->finding,
					  number(entry->importance),
					  entry->limits() ? "1" : "0",
					  entry->is_sure() ? "1" : "0",
					  std::to_string(place.socket),
					  place.pmu, number(place.number.value),
					  place.number.unit,
					  number(place.number.error),
					  number(place.number.share)});
	}
	return text;
}

namespace {

json json_of(const place_reading &place)
{
	json entry = {{"socket", place.socket}};

	if (!place.pmu.empty())
		entry["pmu"] = place.pmu;
	entry["value"] = place.number.value;
	entry["unit"] = place.number.unit;
	entry["error"] = place.number.error;
	entry["running"] = place.number.share;
	return entry;
}

json json_of(const assessment &entry)
{
	json document = {{"finding", entry.rule->finding},
			 {"importance", entry.importance},
			 {"from", entry.rule->from},
			 {"limits_from", entry.rule->full},
			 {"source", entry.rule->source},
			 {"values", json::array()}};

	for (const place_reading &place : shown_places(entry))
		document["values"].push_back(json_of(place));
	return document;
}

} // namespace

json json_of(const diagnosis &result)
{
	json document = {{"seconds", result.seconds},
			 {"rounds", result.rounds},
			 {"groups", result.groups},
			 {"findings", json::array()},
			 {"no_finding", json::array()},
			 {"not_judged", json::array()},
			 {"left_out", json::array()}};

	for (const assessment *entry : result.findings()) {
		json finding = json_of(*entry);

		finding["limits"] = entry->limits();
		finding["sure"] = entry->is_sure();
		finding["seen"] = entry->seen();
		finding["look"] = entry->rule->look;
		finding["helps"] = entry->rule->helps;
		finding["numbers"] = json::array();
		for (const std::string &metric : entry->rule->numbers)
			for (const place_reading &place :
			     result.numbers.of(metric)) {
				json number = {{"metric", metric}};

				number.update(json_of(place));
				finding["numbers"].push_back(std::move(number));
			}
		document["findings"].push_back(std::move(finding));
	}
	for (const assessment *entry : result.unremarkable())
		document["no_finding"].push_back(json_of(*entry));
	for (const auto &[member, rules] :
	     {std::pair("not_judged", &result.not_judged),
	      std::pair("left_out", &result.absent)})
		for (const absent_rule &entry : *rules)
			document[member].push_back({{"finding", entry.finding},
						    {"reason", entry.reason}});
	return document;
}

} // namespace cli
