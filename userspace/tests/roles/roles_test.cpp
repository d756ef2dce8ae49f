// SPDX-License-Identifier: GPL-2.0-or-later
// Test that programs ask for the roles of box types, with a made-up generation (catalogue/)
// whose cache boxes are called "cha" and whose links are called "upi". The library's lists
// and the exporter's tables are made of its catalogue alone.
#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <uncore/catalogue.hpp>
#include <uncore/event.hpp>

#include "attribution/top_columns.hpp"
#include "catalogue_tables.hpp"
#include "exporter/choice.hpp"
#include "exporter/die_map.hpp"
#include "exporter/limits.hpp"
#include "live/numbers.hpp"
#include "tree.hpp"

using namespace cli;
using json = nlohmann::ordered_json;

namespace {

/// A machine of the made-up generation.
class machine {
public:
	/// @param prefix of its PMUs: "mesh", or "uncore" for the kernel's own driver.
	explicit machine(const std::string &prefix) : prefix_(prefix)
	{
		sysfs.write("devices/system/cpu/online", "0\n");
		sysfs.write("devices/system/cpu/modalias",
			    "cpu:type:x86,ven0000fam0006mod1234:feature:\n");
		sysfs.write("devices/system/cpu/cpu0/topology/"
			    "physical_package_id",
			    "0\n");
		for (const char *name : {"ubox", "pcu"})
			add(name);
		for (const auto &[type, boxes] : {std::pair{"cha", 60},
						  {"imc", 6},
						  {"m2m", 2},
						  {"upi", 3},
						  {"m3upi", 3},
						  {"iio", 5},
						  {"iio_free_running", 5},
						  {"irp", 5}})
			for (int i = 0; i < boxes; i++)
				add(std::string(type) + "_" +
				    std::to_string(i));
	}

	tree sysfs;

private:
	void add(const std::string &name)
	{
		const std::string folder = devices + prefix_ + "_" + name + "/";

		sysfs.write(folder + "type", std::to_string(++type_) + "\n");
		sysfs.write(folder + "cpumask", "0\n");
		for (const auto &[field, bits] :
		     {std::pair{"event", "config:0-7"},
		      {"umask", "config:8-15"},
		      {"thresh", "config:24-31"}})
			sysfs.write(folder + "format/" + field,
				    std::string(bits) + "\n");
		if (name.starts_with("cha_"))
			sysfs.write(folder + "format/filter_state",
				    "config1:17-23\n");
	}

	std::string prefix_;
	unsigned type_ = 100;
};

TEST(roles, split_names_with_several_underscores)
{
	for (const char *prefix : {"mesh", "uncore", "a_b"}) {
		const machine made(prefix);
		const uncore::topology topology = made.sysfs.topology();
		const auto *pmu = topology.find(std::string(prefix) +
						"_iio_free_running_2");

		ASSERT_TRUE(pmu);
		EXPECT_EQ(pmu->prefix, prefix);
		EXPECT_EQ(pmu->box, "iio_free_running");
		EXPECT_EQ(pmu->instance, 2u);
		EXPECT_EQ(topology.match("iio_free_running").size(), 5u);
		EXPECT_EQ(topology.match("iio").size(), 5u);
		EXPECT_EQ(topology.pmus().size(), 91u);
	}
}

TEST(roles, exporter_has_series)
{
	const machine made("mesh");
	const uncore::topology topology = made.sysfs.topology();
	const auto chosen = choose_events(topology);
	std::set<std::pair<std::string, std::string>> series;

	ASSERT_TRUE(chosen) << chosen.error().message;
	for (const chosen_event &choice : chosen->chosen)
		series.emplace(all_series()[choice.family].name,
			       choice.what->pmu->box);
	EXPECT_EQ(series, (std::set<std::pair<std::string, std::string>>{
				  {"uncore_clock_cycles", "ubox"},
				  {"uncore_llc_lookups", "cha"},
				  {"uncore_llc_misses", "cha"},
				  {"uncore_memory_bytes", "imc"},
				  {"uncore_memory_clock_cycles", "imc"},
				  {"uncore_pcu_clock_cycles", "pcu"},
				  {"uncore_upi_clock_cycles", "upi"},
				  {"uncore_upi_data_bytes", "upi"},
				  {"uncore_upi_overhead_flits", "upi"}}));
	ASSERT_TRUE(instance_label_of("cha") && instance_label_of("upi"));
	EXPECT_EQ(instance_label_of("cha")->name, "slice");
	EXPECT_FALSE(instance_label_of("cha")->always);
	EXPECT_EQ(instance_label_of("upi")->name, "link");
	EXPECT_TRUE(instance_label_of("upi")->always);
	EXPECT_FALSE(instance_label_of("ubox"));
}

TEST(roles, exporter_has_limits)
{
	const json limits = limits_of("mesh");
	std::set<std::string> names;

	for (const json &limit : limits)
		names.insert(limit["name"].get<std::string>() + " of " +
			     limit["box"].get<std::string>());
	EXPECT_EQ(names, (std::set<std::string>{"memory of imc", "UPI of upi",
						"cache of cha",
						"remote memory of cha"}));
	// The thresholds are those of the rules of uncore diagnose.
	EXPECT_EQ(limits.front()["from"], 0.3);
	EXPECT_EQ(limits.front()["busy"], 0.6);
	EXPECT_EQ(limits.back()["least"], 0.5 * (1 << 30) / 64);
}

TEST(roles, die_map_places_boxes)
{
	json document = {
		{"machine", json::object()},
		{"boxes", {{{"box", "cha"}}, {{"box", "iio_free_running"}}}}};

	add_roles(document, "mesh");
	EXPECT_EQ(document["machine"]["interconnect"], "mesh");
	EXPECT_EQ(document["boxes"][0],
		  (json{{"box", "cha"}, {"role", "cache"}, {"part", "slice"}}));
	EXPECT_EQ(document["boxes"][1], (json{{"box", "iio_free_running"}}));
}

TEST(roles, live_has_rows)
{
	const machine made("mesh");
	collector counters({.sysfs = made.sysfs.path(), .say = [](auto &) {}});
	const std::vector<family> families = {
		{"uncore_socket_cpus", {}, "", "", {{{{"socket", "0"}}, 1}}},
		{"uncore_upi_data_bytes",
		 {},
		 "",
		 "",
		 {{{{"socket", "0"}, {"link", "2"}}, 64}}}};
	live_numbers numbers;
	std::set<std::string> rows;

	// No PMU of this host has the types.
	EXPECT_FALSE(counters.open());
	numbers.take(families, counters, {});
	for (const live_row &row : numbers.rows())
		rows.insert(row.label);
	EXPECT_TRUE(rows.contains("UPI sent"));
	EXPECT_TRUE(rows.contains("  link 2"));
}

TEST(roles, top_has_presets)
{
	const machine made("mesh");
	const uncore::topology topology = made.sysfs.topology();
	std::vector<attribution_column> counted;
	top_settings shown;

	const auto added =
		add_columns({"llc,upi"}, {}, topology, counted, shown);

	ASSERT_TRUE(added) << added.error().message;
	ASSERT_TRUE(add_columns({}, {}, topology, counted, shown));
	ASSERT_EQ(counted.size(), 3u);
	EXPECT_EQ(counted[0].name, "llc");
	EXPECT_EQ(counted[0].events.size(), 60u);
	EXPECT_EQ(counted[1].name, "upi");
	EXPECT_EQ(counted[1].events.front().pmu->box, "upi");
	EXPECT_EQ(counted[2].name, "memory");
	EXPECT_EQ(describe_presets(),
		  "memory (the default: what is read and written), "
		  "upi (data sent), llc (misses)");
}

TEST(roles, metrics_are_in_groups)
{
	const auto *group = uncore::metric_group::find("upi");

	ASSERT_TRUE(group);
	EXPECT_EQ(uncore::metric_group::all.size(), 1u);
	EXPECT_EQ(group->leading_of(*uncore::catalogue::find("mesh"))
			  .front()
			  ->name,
		  "upi_tx_util");
}

/// Free-running counters whose unit masks have the same low bits are different counters.
TEST(roles, free_running_counters_are_told_apart)
{
	const machine made("mesh");
	const uncore::topology topology = made.sysfs.topology();
	const auto group = uncore::parse_events(
		"{iio_free_running_0/clock/,iio_free_running_0/bytes_in.part0/,"
		"iio_free_running_0/bytes_out.part0/}",
		topology);
	std::vector<uncore::event> events;

	ASSERT_TRUE(group) << group.error().message;
	for (const uncore::event_term &term : group->front().terms)
		events.push_back(term.events.front());
	EXPECT_EQ(events.size(), 3u);
	EXPECT_TRUE(uncore::fit(events, topology.generation()));
}

TEST(roles, intel_uncore_obeys_filters_of_all_boxes)
{
	const machine made("uncore");
	const uncore::topology topology = made.sysfs.topology();

	for (const char *box : {"0", "31", "32", "59"}) {
		const auto parsed = uncore::parse_events(
			"cha_" + std::string(box) +
				"/llc_lookup.any,filter_state=0x7f/",
			topology);

		EXPECT_TRUE(parsed) << parsed.error().message;
	}
	EXPECT_FALSE(uncore::parse_events(
		"cha_32/clockticks,filter_state=0x7f/", topology));
}

TEST(roles, other_tools_names_are_known)
{
	const machine made("mesh");
	const uncore::topology topology = made.sysfs.topology();

	for (const char *name :
	     {"UNC_CHA_CLOCKTICKS", "UNC_H_CLOCKTICKS", "UNC_UPI_CLOCKTICKS"})
		EXPECT_TRUE(uncore::parse_events(name, topology)) << name;

	const auto likwid =
		uncore::parse_events("TXL_FLITS_G0_DATA:SBOX2C1", topology);

	ASSERT_FALSE(likwid);
	EXPECT_NE(likwid.error().message.find("upi_2/txl_flits_g0.data/"),
		  std::string::npos)
		<< likwid.error().message;
}

} // namespace
