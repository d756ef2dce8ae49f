// SPDX-License-Identifier: GPL-2.0-or-later
#include "checks/coherent_io.hpp"

#include <cmath>
#include <map>
#include <thread>

#include <fmt/format.h>

#include <uncore/catalogue.hpp>

#include "checks/counters.hpp"

namespace cli {

namespace {

using namespace std::chrono_literals;

constexpr const char *subject = "coherent IO";
constexpr const char *event = "transactions.writes";
constexpr int intervals = 10;

/// Counts of both boxes in each interval, by socket.
using pairs = std::map<int, std::vector<std::pair<uint64_t, uint64_t>>>;

uncore::result<pairs> count(const uncore::topology &machine,
			    const uncore::pmu_info &first,
			    const uncore::pmu_info &second)
{
	pairs counted_pairs;

	for (int i = 0; i < intervals; i++) {
		auto opened = counters::open(
			machine, fmt::format("{1}/{0}/,{2}/{0}/", event,
					     first.name, second.name));
		if (!opened)
			return opened.error();
		const auto counts = opened->during(
			[] { std::this_thread::sleep_for(100ms); });
		if (!counts)
			return counts.error();
		std::map<int, std::pair<uint64_t, uint64_t>> now;
		for (const counted &one : *counts)
			(one.box == &first ? now[one.package].first
					   : now[one.package].second) +=
				one.count.raw;
		for (const auto &[package, pair] : now)
			counted_pairs[package].push_back(pair);
	}
	return counted_pairs;
}

/// The two are read one after the other: one unit shows nearly the same.
bool is_same(const std::pair<uint64_t, uint64_t> &pair)
{
	const double one = double(pair.first), other = double(pair.second);

	return std::abs(one - other) <= 0.02 * std::max(one, other);
}

finding judge(int package,
	      const std::vector<std::pair<uint64_t, uint64_t>> &seen)
{
	uint64_t first = 0, second = 0;
	bool same = true;

	for (const auto &pair : seen) {
		first += pair.first;
		second += pair.second;
		same &= is_same(pair);
	}
	const std::string text = fmt::format(
		"socket {}: {} and {} writes of devices in the two units of it",
		package, first, second);

	if (!first && !second)
		return {subject, verdict::note, text + ": nothing to see",
			"it tells more while devices write to memory"};
	if (same)
		return {subject, verdict::bad,
			text + ", the same in each interval: one unit, counted "
			       "twice?",
			"halve sums over both, and please report this machine"};
	return {subject, verdict::good, text, {}};
}

} // namespace

std::vector<finding> check_coherent_io(const uncore::topology &machine,
				       nlohmann::ordered_json &measured)
{
	const auto boxes = machine.match("irp");
	std::vector<finding> findings;

	if (boxes.size() != 2 ||
	    !uncore::catalogue::of(machine).event("irp", event))
		return {};
	const auto seen = count(machine, *boxes[0], *boxes[1]);
	if (!seen)
		return {{subject, verdict::bad, seen.error().message, {}}};
	for (const auto &[package, list] : *seen) {
		for (const auto &[first, second] : list)
			measured.push_back({{"socket", package},
					    {boxes[0]->name, first},
					    {boxes[1]->name, second}});
		findings.push_back(judge(package, list));
	}
	return findings;
}

} // namespace cli
