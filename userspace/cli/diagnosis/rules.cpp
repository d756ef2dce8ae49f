// SPDX-License-Identifier: GPL-2.0-or-later
#include "diagnosis/rules.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "exporter/tables.hpp"
#include "output/number.hpp"

namespace cli {

using json = nlohmann::ordered_json;

void readings::add(std::string_view metric, place_reading place)
{
	metrics_[std::string(metric)].push_back(std::move(place));
}

std::vector<place_reading> readings::of(std::string_view metric,
					bool by_box) const
{
	const auto rows = metrics_.find(metric);
	std::vector<place_reading> places;

	if (rows == metrics_.end())
		return places;
	for (const place_reading &row : rows->second)
		if (row.pmu.empty() != by_box)
			places.push_back(row);
	return places;
}

reading readings::of_socket(std::string_view metric, int socket) const
{
	for (const place_reading &row : of(metric))
		if (row.socket == socket)
			return row.number;
	return {};
}

// --- rules

static rule::comparison comparison_of(std::string_view word)
{
	return word == "box"	  ? rule::comparison::boxes
	       : word == "socket" ? rule::comparison::sockets
				  : rule::comparison::none;
}

static rule rule_of(const json &entry)
{
	rule made;

	made.finding = entry["finding"];
	made.box = entry["box"];
	made.metrics = entry["metrics"];
	made.divisor = entry["divisor"];
	made.good = entry["good"];
	made.from = entry["from"];
	made.full = entry["full"];
	made.traffic = entry["traffic"];
	made.least = entry["least"];
	made.each = comparison_of(entry["each"].get<std::string>());
	made.times = entry["times"];
	made.numbers = entry["numbers"];
	made.seen = entry["seen"];
	made.look = entry["look"];
	made.helps = entry["helps"];
	made.source = entry["source"];
	if (const json &measured = entry["measured"]; !measured.is_null())
		made.measured = {measured["metric"], measured["from"], measured["full"],
				 measured["seen"], measured["source"]};
	return made;
}

const rule *rule_set::calibrated() const
{
	for (const rule &entry : rules)
		if (!entry.measured.metric.empty())
			return &entry;
	return nullptr;
}

void rule_set::use(const memory_peaks &peaks, const uncore::topology &machine)
{
	if (!peaks.is_complete(machine))
		return;
	for (rule &entry : rules) {
		if (entry.measured.metric.empty())
			continue;
		for (const uncore::package &package : machine.packages())
			entry.peaks[package.id] = *peaks.of(package.id);
		entry.metrics = {entry.measured.metric};
		entry.from = entry.measured.from;
		entry.full = entry.measured.full;
		entry.seen = entry.measured.seen;
		entry.source = entry.measured.source;
	}
}

std::vector<std::string> rule::needed() const
{
	std::vector<std::string> names = traffic;

	if (!divisor.empty())
		names.push_back(divisor);
	// Of several metrics one is enough.
	if (metrics.size() == 1)
		names.push_back(metrics.front());
	return names;
}

/// Return why a generation lacks a rule; nothing if it has the rule.
static std::optional<std::string> reason_against(const rule &candidate,
						 const uncore::catalogue &known)
{
	const auto lacks = [&known](const std::string &name) {
		return !known.metric(name);
	};
	const auto needed = candidate.needed();
	const auto missing = std::find_if(needed.begin(), needed.end(), lacks);

	if (missing != needed.end())
		return fmt::format("{} has no metric {}", known.title(),
				   *missing);
	if (candidate.metrics.empty())
		return "no metric has its capacity; uncore serve knows it";
	if (std::all_of(candidate.metrics.begin(), candidate.metrics.end(),
			lacks))
		return fmt::format("{} has no metric {}", known.title(),
				   candidate.metrics.front());
	return std::nullopt;
}

rule_set rule_set::of(const uncore::catalogue &known)
{
	static const json entries = json::parse(tables::rules);
	rule_set made;

	for (const json &entry : entries) {
		rule candidate = rule_of(entry);
		const auto reason = reason_against(candidate, known);

		if (!reason)
			made.rules.push_back(std::move(candidate));
		else
			made.absent.push_back({candidate.finding, *reason});
	}
	// A finding has a rule for each box type with its role: QPI and UPI.  It is
	// absent if the generation has none of them, and its reason is the first.
	std::vector<absent_rule> absent;
	const auto has = [](const auto &rules, const std::string &finding) {
		return std::any_of(rules.begin(), rules.end(),
				   [&finding](const auto &other) {
					   return other.finding == finding;
				   });
	};

	for (absent_rule &entry : made.absent)
		if (!has(made.rules, entry.finding) &&
		    !has(absent, entry.finding))
			absent.push_back(std::move(entry));
	made.absent = std::move(absent);
	return made;
}

void rule_set::remove(std::string_view metric, std::string_view reason)
{
	for (rule &entry : rules) {
		const auto needed = entry.needed();

		std::erase(entry.metrics, metric);
		if (!std::count(needed.begin(), needed.end(), metric) &&
		    !entry.metrics.empty())
			continue;
		absent.push_back(
			{entry.finding, fmt::format("{}: {}", metric, reason)});
		entry.metrics.clear();
	}
	std::erase_if(rules, [](const rule &entry) {
		return entry.metrics.empty();
	});
}

// --- assessments

namespace {

/// A rule's value at a place, and its importance.
struct place_value {
	place_reading place;
	double importance, error;
};

/// Divide two readings; the value is a percentage.
reading percentage(const reading &part, const reading &whole)
{
	const double value = 100 * part.value / whole.value;

	return {value,
		std::fabs(value) * std::hypot(part.error / part.value,
					      whole.error / whole.value),
		std::min(part.share, whole.share), "%"};
}

/// Divide a rate of bytes by a peak in bytes a second; the value is a percentage.
reading percentage_of_peak(const reading &rate, double peak)
{
	const std::string_view unit = rate.unit;
	const double factor =
		100 * bytes_in(unit.substr(0, unit.find("/s"))) / peak;

	return {rate.value * factor, rate.error * factor, rate.share, "%"};
}

/// Return the part of the needed traffic that a socket has, at most 1; not a number if
/// the traffic is not known.
double weight_of(const rule &rule, const readings &numbers, int socket)
{
	double sum = 0;

	if (rule.traffic.empty())
		return 1;
	for (const std::string &metric : rule.traffic)
		sum += numbers.of_socket(metric, socket).value;
	return sum >= rule.least ? 1 : sum / rule.least;
}

/// Find the rule's values at all places.  Of several metrics the one nearest to full
/// counts.
std::vector<place_value> place_values(const rule &rule, const readings &numbers)
{
	const double way = rule.full - rule.good;
	std::vector<place_value> found;

	for (const std::string &metric : rule.metrics)
		for (place_reading &place : numbers.of(
			     metric, rule.each == rule::comparison::boxes)) {
			if (const auto peak = rule.peaks.find(place.socket);
			    peak != rule.peaks.end())
				place.number = percentage_of_peak(place.number,
								  peak->second);
			if (!rule.divisor.empty())
				place.number = percentage(
					place.number,
					numbers.of_socket(rule.divisor,
							  place.socket));

			const double weight =
				weight_of(rule, numbers, place.socket);
			const place_value made{
				place,
				weight * (place.number.value - rule.good) / way,
				weight * place.number.error / std::fabs(way)};
			const auto other = std::find_if(
				found.begin(), found.end(),
				[&place](const place_value &c) {
					return c.place.socket == place.socket &&
					       c.place.pmu == place.pmu;
				});

			if (!std::isfinite(made.importance))
				continue;
			if (other == found.end())
				found.push_back(made);
			else if (made.importance > other->importance)
				*other = made;
		}
	return found;
}

/// Keep the boxes or sockets that have more than the mean.  Boxes are compared with
/// those of their socket.  Boxes that counted nothing are channels without modules.
void keep_uneven(std::vector<place_value> &found, const rule &rule)
{
	std::map<int, std::pair<double, unsigned>> sums;
	const bool sockets = rule.each == rule::comparison::sockets;
	const auto group_of = [sockets](const place_value &c) {
		return sockets ? 0 : c.place.socket;
	};

	for (const place_value &c : found) {
		if (!sockets && c.place.number.value <= 0)
			continue;
		sums[group_of(c)].first += c.place.number.value;
		sums[group_of(c)].second++;
	}
	for (place_value &c : found) {
		const auto &[sum, count] = sums[group_of(c)];

		if (count < 2 || c.place.number.value < rule.times * sum / count)
			c.importance = 0;
	}
}

} // namespace

std::vector<absent_rule> not_judged(std::span<const rule> rules,
				    const readings &numbers)
{
	std::vector<absent_rule> left;

	for (const rule &rule : rules) {
		if (!place_values(rule, numbers).empty())
			continue;

		std::vector<std::string> metrics = rule.needed();

		metrics.insert(metrics.end(), rule.metrics.begin(), rule.metrics.end());

		const bool counted = std::all_of(
			metrics.begin(), metrics.end(), [&](const std::string &metric) {
				const auto places = numbers.of(metric);

				return std::any_of(places.begin(), places.end(),
						   [](const place_reading &place) {
							   return place.number.share > 0;
						   });
			});

		left.push_back({rule.finding,
				counted ? "there was no traffic to judge"
					: "its events had no time on the counters",
				!counted});
	}
	return left;
}

std::string assessment::seen() const
{
	std::string text = rule->seen;
	constexpr std::string_view mark = "{value}";
	const size_t at = text.find(mark);
	const reading &number = places.front().number;

	if (at != text.npos)
		text.replace(at, mark.size(), human(number.value, number.unit));
	return text;
}

std::vector<assessment> assess(std::span<const rule> rules,
			       const readings &numbers)
{
	std::vector<assessment> assessments;

	for (const rule &rule : rules) {
		std::vector<place_value> found = place_values(rule, numbers);
		assessment made{&rule, {}};

		if (found.empty())
			continue;
		if (rule.each != rule::comparison::none)
			keep_uneven(found, rule);
		std::stable_sort(found.begin(), found.end(),
				 [](const place_value &a, const place_value &b) {
					 return a.importance > b.importance;
				 });
		made.importance = std::max(found.front().importance, 0.0);
		made.error = found.front().error;
		for (place_value &c : found)
			made.places.push_back(std::move(c.place));
		assessments.push_back(std::move(made));
	}
	std::stable_sort(assessments.begin(), assessments.end(),
			 [](const assessment &a, const assessment &b) {
				 return std::pair(a.is_finding(),
						  a.sure_importance()) >
					std::pair(b.is_finding(),
						  b.sure_importance());
			 });
	return assessments;
}

} // namespace cli
