// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter/recording.hpp"

#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "exporter/die_map.hpp"
#include "exporter/limits.hpp"
#include "output/document.hpp"

namespace cli {

using json = nlohmann::ordered_json;

namespace {

/// Return the key of a counter: "SOCKET EVENT".
std::string key_of(int socket, std::string_view event)
{
	return fmt::format("{} {}", socket, event);
}

std::string key_of(const box_count &count)
{
	return key_of(count.package, fmt::format("{}/{}/", count.pmu->name,
						 count.event->event));
}

} // namespace

uncore::result<recorder> recorder::create(const std::string &path)
{
	auto file = output_file::open(path);

	if (!file)
		return file.error();
	return recorder(*std::move(file));
}

/// Write a line and flush it: a killed program loses no written line.
void recorder::write(const std::string &line)
{
	file_.write(line + '\n');
	file_.flush();
}

void recorder::begin(const collector &counters)
{
	for (const box_count &count : counters.counts())
		counters_.push_back(key_of(count));

	json machine = describe(counters);

	// A recording has no limits: the program that shows it takes its own,
	// which may be newer.
	machine.erase("limits");
	write(dump(machine, -1));
}

void recorder::add(const collector &counters,
		   std::chrono::steady_clock::time_point read_at)
{
	uses_.take(counters);

	json document = snapshot(counters, uses_, read_at);

	if (document.contains("counts")) {
		std::unordered_map<std::string, json> current;
		const auto counted = counters.counts();
		json counts = json::array();

		for (size_t i = 0; i < counted.size(); i++)
			current[key_of(counted[i])] =
				std::move(document["counts"][i]);
		for (const std::string &key : counters_)
			counts.push_back(current[key]);
		document["counts"] = std::move(counts);
	}
	document.erase("revision");
	document.erase("instance");
	write(dump(document, -1));
	snapshots_++;
}

uncore::result<void> recorder::end()
{
	write(dump({{"end", true}, {"snapshots", snapshots_}}, -1));
	return file_.commit();
}

} // namespace cli
