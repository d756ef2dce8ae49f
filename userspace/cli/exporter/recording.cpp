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

std::string key_of(int socket, std::string_view event)
{
	return fmt::format("{} {}", socket, event);
}

std::string key_of(const box_count &one)
{
	return key_of(one.package,
		      fmt::format("{}/{}/", one.pmu->name, one.event->event));
}

} // namespace

uncore::result<recorder> recorder::create(const std::string &path)
{
	auto file = output_file::open(path);

	if (!file)
		return file.error();
	return recorder(*std::move(file));
}

/// Each line is in the file before the next second, whatever happens then.
void recorder::write(const std::string &line)
{
	file_.write(line + '\n');
	file_.flush();
}

void recorder::begin(const collector &counters)
{
	for (const box_count &one : counters.counts())
		counters_.push_back(key_of(one));

	json machine = describe(counters);

	// The program that shows it has newer ones.
	machine.erase("limits");
	write(dump(machine, -1));
}

void recorder::add(const collector &counters,
		   std::chrono::steady_clock::time_point read_at)
{
	uses_.take(counters);

	json made = snapshot(counters, uses_, read_at);

	if (made.contains("counts")) {
		std::unordered_map<std::string, json> now;
		const auto known = counters.counts();
		json counts = json::array();

		for (size_t i = 0; i < known.size(); i++)
			now[key_of(known[i])] = std::move(made["counts"][i]);
		for (const std::string &key : counters_)
			counts.push_back(now[key]);
		made["counts"] = std::move(counts);
	}
	made.erase("revision");
	made.erase("instance");
	write(dump(made, -1));
	snapshots_++;
}

uncore::result<void> recorder::end()
{
	write(dump({{"end", true}, {"snapshots", snapshots_}}, -1));
	return file_.commit();
}

} // namespace cli
