// SPDX-License-Identifier: GPL-2.0-or-later
#include "checks/coherent_io.hpp"

#include <chrono>
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
/// If both boxes count the same in this share of the intervals with traffic or more, they
/// are taken for one unit.  Not in all intervals: the two boxes are started and read one
/// after the other, on a busy machine with a pause in between, so that the counts of one
/// unit may differ as well.
constexpr double alike = 0.7;

/// Count of a box in an interval, and the time of counting.
struct tally {
	uint64_t count = 0;
	std::chrono::nanoseconds time{};
};

/// Tallies of both boxes in each interval, by socket.
using pairs = std::map<int, std::vector<std::pair<tally, tally>>>;

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
		std::map<int, std::pair<tally, tally>> tallies;
		for (const counted &reading : *counts)
			(reading.box == &first
				 ? tallies[reading.package].first
				 : tallies[reading.package].second) = {
				reading.count.raw, reading.count.running};
		for (const auto &[package, pair] : tallies)
			counted_pairs[package].push_back(pair);
	}
	return counted_pairs;
}

/// Return whether the rates of both boxes differ by 2 % at most.
bool is_same(const std::pair<tally, tally> &pair)
{
	const double first_product =
		double(pair.first.count) * double(pair.second.time.count());
	const double second_product =
		double(pair.second.count) * double(pair.first.time.count());

	return std::abs(first_product - second_product) <=
	       0.02 * std::max(first_product, second_product);
}

finding judge(int package, const std::vector<std::pair<tally, tally>> &tallies)
{
	uint64_t first = 0, second = 0;
	int busy = 0, same = 0;

	for (const auto &pair : tallies) {
		first += pair.first.count;
		second += pair.second.count;
		if (!pair.first.count && !pair.second.count)
			continue;
		busy++;
		same += is_same(pair);
	}
	const std::string text = fmt::format(
		"socket {}: {} and {} writes of devices in the two units of it",
		package, first, second);

	if (!first && !second)
		return {subject, verdict::note, text + ": nothing to see",
			"it tells more while devices write to memory"};
	if (same >= alike * busy)
		return {subject, verdict::bad,
			text + fmt::format(
				       ", the same in {} of {} intervals: one unit, counted twice?",
				       same, busy),
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
	const auto socket_pairs = count(machine, *boxes[0], *boxes[1]);
	if (!socket_pairs)
		return {{subject,
			 verdict::bad,
			 socket_pairs.error().message,
			 {}}};
	for (const auto &[package, tallies] : *socket_pairs) {
		for (const auto &[first, second] : tallies)
			measured.push_back({{"socket", package},
					    {boxes[0]->name, first.count},
					    {boxes[1]->name, second.count}});
		findings.push_back(judge(package, tallies));
	}
	return findings;
}

} // namespace cli
