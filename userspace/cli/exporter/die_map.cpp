// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter/die_map.hpp"

#include <cmath>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <uncore/catalogue.hpp>
#include <uncore/version.hpp>

#include "catalogue_tables.hpp"
#include "exporter/limits.hpp"
#include "output/document.hpp"
#include "output/machine.hpp"
#include "sysfs.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

/// Convert a count to a JSON number: whole numbers without a decimal point, NaN to null.
/// Only scaled counts have fractions.
json finite_or_null(double value)
{
	constexpr double exact_to = 9007199254740992; // 2^53

	if (!std::isfinite(value))
		return nullptr;
	if (value >= 0 && value < exact_to && value == std::floor(value))
		return uint64_t(value);
	return value;
}

/// Return an identifier of this process that is unique across machines and boots.  By
/// its change a page notices that the server was restarted, and that the counts begin
/// anew.
const std::string &instance()
{
	static const std::string id = [] {
		timespec now{};

		clock_gettime(CLOCK_BOOTTIME, &now);
		return fmt::format(
			"{}-{}.{:09}",
			uncore::read_text("/proc/sys/kernel/random/boot_id")
				.value_or(host_name()),
			now.tv_sec, now.tv_nsec);
	}();

	return id;
}

json sockets_of(const collector &counters)
{
	json list = json::array();

	for (const uncore::package &socket : counters.machine()->packages()) {
		json entry = {{"id", socket.id},
			      {"cpus", cpu_list(socket.cpus)}};

		if (const auto capacity =
			    pcie_capacity(counters.sysfs(), socket))
			entry["pcie_bytes_per_second"] = *capacity;
		list.push_back(std::move(entry));
	}
	return list;
}

/// Sum the memory traffic, reads and writes, by socket and by pod or cgroup.  Empty if
/// the traffic of cgroups is not counted.
json cgroups_of(const collector &counters)
{
	std::vector<family> families;
	std::map<std::string, std::map<std::string, double>> sums;
	json document = json::object();

	counters.add_side(families);
	for (const family &exported : families) {
		if (exported.name != "uncore_cgroup_memory_bytes")
			continue;
		for (const sample &entry : exported.samples) {
			std::map<std::string, std::string> labels(
				entry.labels.begin(), entry.labels.end());
			const std::string &pod = labels["pod"];

			sums[labels["socket"]]
			    [pod.empty() ? labels["cgroup"]
					 : labels["namespace"] + "/" + pod] +=
				entry.value;
		}
	}
	for (const auto &[socket, cgroups] : sums)
		for (const auto &[cgroup, bytes] : cgroups)
			document[socket][cgroup] = finite_or_null(bytes);
	return document;
}

/// Index of a box (PMU and socket) in the document's list of boxes, which also has boxes
/// that are not counted.
using box_places = std::map<std::pair<const uncore::pmu_info *, int>, size_t>;

json boxes_of(const uncore::topology &machine, box_places &places)
{
	const auto &catalogue = uncore::catalogue::of(machine);
	json list = json::array();

	for (const uncore::pmu_info &pmu : machine.pmus()) {
		const auto *info = catalogue.box(pmu.box);

		for (const int cpu : pmu.cpus) {
			const int socket = machine.package_of(cpu);

			places[{&pmu, socket}] = list.size();
			list.push_back(
				{{"socket", socket},
				 {"pmu", pmu.name},
				 {"box", pmu.box},
				 {"title",
				  info ? std::string(info->title) : pmu.box},
				 {"number", pmu.instance ? json(*pmu.instance)
							 : json(nullptr)}});
		}
	}
	return list;
}

json series_of()
{
	json list = json::array();

	for (const series &entry : all_series())
		list.push_back({{"name", entry.name},
				{"unit", entry.unit},
				{"help", entry.help}});
	return list;
}

json counters_of(const collector &counters, const box_places &places)
{
	const uncore::topology &machine = *counters.machine();
	const auto &catalogue = uncore::catalogue::of(machine);
	json list = json::array();

	for (const box_count &count : counters.counts()) {
		// count.pmu is in the session's copy of the topology, the keys of
		// places are in the collector's.
		const auto place = places.find(
			{machine.find(count.pmu->name), count.package});
		const std::string_view text = count.event->event;
		const auto *info = catalogue.event(
			count.family->box, text.substr(0, text.find(',')));
		json labels = json::object();

		for (const label &entry : count.event->labels)
			labels[std::string(entry.name)] = entry.value;
		list.push_back(
			{{"box", place == places.end() ? json(nullptr)
						       : json(place->second)},
			 {"event",
			  fmt::format("{}/{}/", count.pmu->name, text)},
			 {"series", count.family - all_series().data()},
			 {"labels", std::move(labels)},
			 {"factor", count.event->factor},
			 {"most", info ? info->max_increment : 1}});
	}
	return list;
}

} // namespace

json describe_host(std::string_view generation)
{
	return {{"host", host_name()},
		{"model", cpuinfo_field("/proc", "model name").value_or("")},
		{"generation", generation}};
}

void add_roles(json &document, std::string_view generation)
{
	const auto *tables = uncore::catalogue_tables::find(generation);

	if (!tables)
		return;
	if (!tables->interconnect.empty())
		document["machine"]["interconnect"] = tables->interconnect;
	for (json &box : document["boxes"])
		if (const auto *entry = tables->role_of(
			    box["box"].get_ref<const std::string &>())) {
			box["role"] = entry->role;
			box["part"] = entry->part;
		}
}

json describe(const collector &counters)
{
	json document = {{"format", series_format},
			 {"version", series_version},
			 {"program", uncore::version()},
			 {"instance", instance()},
			 {"revision", counters.revision()}};

	if (!counters.machine()) {
		document["machine"] = describe_host("");
		for (const char *name :
		     {"sockets", "boxes", "series", "limits", "counters"})
			document[name] = json::array();
		return document;
	}

	const uncore::topology &machine = *counters.machine();
	const std::string_view generation = machine.generation();
	box_places places;

	document["machine"] = describe_host(generation);
	document["machine"]["title"] = uncore::catalogue::of(machine).title();
	document["machine"]["driver"] = driver_name(machine);
	document["sockets"] = sockets_of(counters);
	document["boxes"] = boxes_of(machine, places);
	document["series"] = series_of();
	document["limits"] = limits_of(generation);
	document["counters"] = counters_of(counters, places);
	add_roles(document, uncore::catalogue::of(machine).generation());
	return document;
}

json snapshot(const collector &counters, const limit_uses &uses,
	      std::chrono::steady_clock::time_point read_at)
{
	using namespace std::chrono;
	const auto age = steady_clock::now() - read_at;
	const auto wall =
		system_clock::now() - duration_cast<milliseconds>(age);
	json counts = json::array(), shared = json::object();
	json document = {
		{"time",
		 duration_cast<milliseconds>(wall.time_since_epoch()).count() /
			 1e3},
		{"seconds",
		 duration<double>(read_at.time_since_epoch()).count()},
		{"instance", instance()},
		{"revision", counters.revision()}};

	if (!counters.problem().empty()) {
		document["problem"] = counters.problem();
		return document;
	}
	for (const box_count &count : counters.counts()) {
		// The total of a box that is not measured is an old count.
		counts.push_back(
			counters.down().contains({count.pmu, count.package})
				? json(nullptr)
				: finite_or_null(count.total));
		if (count.share < 1)
			shared[fmt::format("{}/{}", count.package,
					   count.pmu->box)] = count.share;
	}
	document["counts"] = std::move(counts);
	document["verdicts"] = uses.describe(counters);
	if (!shared.empty())
		document["shared"] = std::move(shared);

	// Keys are indices of the boxes in the topology document.
	box_places places;
	json down = json::object();

	if (!counters.down().empty())
		boxes_of(*counters.machine(), places);
	for (const auto &[box, reason] : counters.down()) {
		const auto place =
			places.find({counters.machine()->find(box.first->name),
				     box.second});

		if (place != places.end())
			down[std::to_string(place->second)] = reason;
	}
	if (!down.empty())
		document["down"] = std::move(down);
	if (json cgroups = cgroups_of(counters); !cgroups.empty())
		document["cgroups"] = std::move(cgroups);
	return document;
}

} // namespace cli
