// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter/die_map.hpp"

#include <cmath>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <uncore/catalogue.hpp>
#include <uncore/version.hpp>

#include "exporter/limits.hpp"
#include "output/document.hpp"
#include "output/machine.hpp"
#include "sysfs.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

/// Counts are whole unless they were scaled.
json finite_or_null(double value)
{
	constexpr double exact_to = 9007199254740992; // 2^53

	if (!std::isfinite(value))
		return nullptr;
	if (value >= 0 && value < exact_to && value == std::floor(value))
		return uint64_t(value);
	return value;
}

/// This process, as no other process of any machine is called: counts of
/// another one do not continue its own.
const std::string &instance()
{
	static const std::string made = [] {
		timespec now{};

		clock_gettime(CLOCK_BOOTTIME, &now);
		return fmt::format(
			"{}-{}.{:09}",
			uncore::read_text("/proc/sys/kernel/random/boot_id")
				.value_or(host_name()),
			now.tv_sec, now.tv_nsec);
	}();

	return made;
}

json sockets_of(const collector &counters)
{
	json all = json::array();

	for (const uncore::package &one : counters.machine()->packages()) {
		json its = {{"id", one.id}, {"cpus", cpu_list(one.cpus)}};

		if (const auto most = pcie_capacity(counters.sysfs(), one))
			its["pcie_bytes_per_second"] = *most;
		all.push_back(std::move(its));
	}
	return all;
}

/// Bytes by socket and cgroup, both ways; nothing where no cgroups are counted.
json cgroups_of(const collector &counters)
{
	std::vector<family> all;
	std::map<std::string, std::map<std::string, double>> sums;
	json made = json::object();

	counters.add_side(all);
	for (const family &one : all) {
		if (one.name != "uncore_cgroup_memory_bytes")
			continue;
		for (const sample &each : one.samples) {
			std::map<std::string, std::string> its(
				each.labels.begin(), each.labels.end());
			const std::string &pod = its["pod"];

			sums[its["socket"]]
			    [pod.empty() ? its["cgroup"]
					 : its["namespace"] + "/" + pod] +=
				each.value;
		}
	}
	for (const auto &[socket, cgroups] : sums)
		for (const auto &[cgroup, bytes] : cgroups)
			made[socket][cgroup] = finite_or_null(bytes);
	return made;
}

/// Every box, counted or not, and where it is in the list.
using box_places = std::map<std::pair<const uncore::pmu_info *, int>, size_t>;

json boxes_of(const uncore::topology &machine, box_places &places)
{
	const auto &known = uncore::catalogue::of(machine);
	json all = json::array();

	for (const uncore::pmu_info &pmu : machine.pmus()) {
		const auto *info = known.box(pmu.box);

		for (const int cpu : pmu.cpus) {
			const int socket = machine.package_of(cpu);

			places[{&pmu, socket}] = all.size();
			all.push_back(
				{{"socket", socket},
				 {"pmu", pmu.name},
				 {"box", pmu.box},
				 {"title",
				  info ? std::string(info->title) : pmu.box},
				 {"number", pmu.instance ? json(*pmu.instance)
							 : json(nullptr)}});
		}
	}
	return all;
}

json series_of()
{
	json all = json::array();

	for (const series &one : all_series())
		all.push_back({{"name", one.name},
			       {"unit", one.unit},
			       {"help", one.help}});
	return all;
}

json counters_of(const collector &counters, const box_places &places)
{
	const uncore::topology &machine = *counters.machine();
	const auto &known = uncore::catalogue::of(machine);
	json all = json::array();

	for (const box_count &one : counters.counts()) {
		// The session keeps a separate description.
		const auto at =
			places.find({machine.find(one.pmu->name), one.package});
		const std::string_view text = one.event->event;
		const auto *info = known.event(one.of->box,
					       text.substr(0, text.find(',')));
		json labels = json::object();

		for (const label &each : one.event->labels)
			labels[std::string(each.name)] = each.value;
		all.push_back(
			{{"box", at == places.end() ? json(nullptr)
						    : json(at->second)},
			 {"event", fmt::format("{}/{}/", one.pmu->name, text)},
			 {"series", one.of - all_series().data()},
			 {"labels", std::move(labels)},
			 {"factor", one.event->factor},
			 {"most", info ? info->max_increment : 1}});
	}
	return all;
}

} // namespace

json describe_host(std::string_view generation)
{
	return {{"host", host_name()},
		{"model", cpuinfo_field("/proc", "model name").value_or("")},
		{"generation", generation}};
}

json describe(const collector &counters)
{
	json all = {{"format", series_format},
		    {"version", series_version},
		    {"program", uncore::version()},
		    {"instance", instance()},
		    {"revision", counters.revision()}};

	if (!counters.machine()) {
		all["machine"] = describe_host("");
		for (const char *name :
		     {"sockets", "boxes", "series", "limits", "counters"})
			all[name] = json::array();
		return all;
	}

	const uncore::topology &machine = *counters.machine();
	const std::string_view generation = machine.generation();
	box_places places;

	all["machine"] = describe_host(generation);
	all["machine"]["title"] = uncore::catalogue::of(machine).title();
	all["machine"]["driver"] = driver_name(machine);
	all["sockets"] = sockets_of(counters);
	all["boxes"] = boxes_of(machine, places);
	all["series"] = series_of();
	all["limits"] = limits_of(generation);
	all["counters"] = counters_of(counters, places);
	return all;
}

json snapshot(const collector &counters, const limit_uses &uses,
	      std::chrono::steady_clock::time_point read_at)
{
	using namespace std::chrono;
	const auto age = steady_clock::now() - read_at;
	const auto wall =
		system_clock::now() - duration_cast<milliseconds>(age);
	json counts = json::array(), shared = json::object();
	json all = {
		{"time",
		 duration_cast<milliseconds>(wall.time_since_epoch()).count() /
			 1e3},
		{"seconds",
		 duration<double>(read_at.time_since_epoch()).count()},
		{"instance", instance()},
		{"revision", counters.revision()}};

	if (!counters.problem().empty()) {
		all["problem"] = counters.problem();
		return all;
	}
	for (const box_count &one : counters.counts()) {
		// A box that is not measured has a count from before.
		counts.push_back(
			counters.down().contains({one.pmu, one.package})
				? json(nullptr)
				: finite_or_null(one.total));
		if (one.share < 1)
			shared[fmt::format("{}/{}", one.package,
					   one.pmu->box)] = one.share;
	}
	all["counts"] = std::move(counts);
	all["verdicts"] = uses.describe(counters);
	if (!shared.empty())
		all["shared"] = std::move(shared);

	// Of the boxes of the topology, by their places in it.
	box_places places;
	json down = json::object();

	if (!counters.down().empty())
		boxes_of(*counters.machine(), places);
	for (const auto &[box, reason] : counters.down()) {
		const auto at =
			places.find({counters.machine()->find(box.first->name),
				     box.second});

		if (at != places.end())
			down[std::to_string(at->second)] = reason;
	}
	if (!down.empty())
		all["down"] = std::move(down);
	if (json cgroups = cgroups_of(counters); !cgroups.empty())
		all["cgroups"] = std::move(cgroups);
	return all;
}

} // namespace cli
