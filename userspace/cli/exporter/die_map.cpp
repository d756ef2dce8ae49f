// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter/die_map.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include <uncore/catalogue.hpp>
#include <uncore/version.hpp>

#include "common/cli.hpp"
#include "common/cpuinfo.hpp"
#include "common/document.hpp"

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

json sockets_of(const uncore::topology &machine)
{
	json all = json::array();

	for (const uncore::package &one : machine.packages())
		all.push_back({{"id", one.id}, {"cpus", cpu_list(one.cpus)}});
	return all;
}

/// Every box, counted or not, and where it is in the list.
using box_places = std::map<std::pair<const uncore::pmu *, int>, size_t>;

json boxes_of(const uncore::topology &machine, box_places &places)
{
	const auto &known = uncore::catalogue::of(machine);
	json all = json::array();

	for (const uncore::pmu &pmu : machine.pmus()) {
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
		// The session keeps a description of its own.
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
		    {"revision", counters.revision()}};

	if (!counters.machine()) {
		all["machine"] = describe_host("");
		for (const char *name :
		     {"sockets", "boxes", "series", "counters"})
			all[name] = json::array();
		return all;
	}

	const uncore::topology &machine = *counters.machine();
	const std::string_view generation = machine.generation();
	const bool slow_clock = generation == "snbep" || generation == "ivbep";
	box_places places;

	all["machine"] = describe_host(generation);
	all["machine"]["title"] = uncore::catalogue::of(machine).title();
	all["machine"]["driver"] = driver_name(machine);
	// The clock is a quarter of the link's transfer rate, before Haswell an
	// eighth; a flit is four transfers.
	all["machine"]["flits_per_qpi_clock"] = slow_clock ? 2 : 1;
	all["sockets"] = sockets_of(machine);
	all["boxes"] = boxes_of(machine, places);
	all["series"] = series_of();
	all["counters"] = counters_of(counters, places);
	return all;
}

json snapshot(const collector &counters,
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
		{"revision", counters.revision()}};

	if (!counters.problem().empty()) {
		all["problem"] = counters.problem();
		return all;
	}
	for (const box_count &one : counters.counts()) {
		counts.push_back(finite_or_null(one.total));
		if (one.share < 1)
			shared[fmt::format("{}/{}", one.package,
					   one.pmu->box)] = one.share;
	}
	all["counts"] = std::move(counts);
	if (!shared.empty())
		all["shared"] = std::move(shared);
	return all;
}

} // namespace cli
