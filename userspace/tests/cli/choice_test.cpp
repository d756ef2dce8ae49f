// SPDX-License-Identifier: GPL-2.0-or-later
// Test the choice of the events that uncore serve, its die map and uncore live count on
// each generation: all events of a box must be countable at the same time.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "exporter/choice.hpp"
#include "tree.hpp"

using namespace cli;

namespace {

struct machine {
	const char *tree;
	/// Series that the machine must have, and series that it must not have.
	std::set<std::string> has, lacks;
	/// filter_state of lookups: all states of the generation; "" for no lookups by
	/// state.
	const char *states;
};

void PrintTo(const machine &machine, std::ostream *out)
{
	*out << machine.tree;
}

class choice_test : public testing::TestWithParam<machine> {};

TEST_P(choice_test, fits_each_box_at_once)
{
	const tree sysfs(GetParam().tree);
	const uncore::topology machine = sysfs.topology();
	const auto chosen = choose_events(machine);

	ASSERT_TRUE(chosen) << chosen.error().message;
	EXPECT_TRUE(chosen->plan.multiplexed.empty());

	std::map<const uncore::pmu_info *, std::vector<uncore::event>> boxes;
	std::map<std::string, std::set<std::string>> have;

	for (const chosen_event &choice : chosen->chosen) {
		boxes[choice.what->pmu].push_back(*choice.what);
		have[std::string(all_series()[choice.family].name)].insert(
			std::string(all_series()[choice.family]
					    .events[choice.event]
					    .event));
	}
	for (const auto &[pmu, events] : boxes) {
		const auto fits = uncore::fit(events, machine.generation());

		EXPECT_TRUE(fits) << pmu->name << ": " << fits.error().message;
	}
	for (const std::string &name : GetParam().has)
		EXPECT_TRUE(have.contains(name)) << name;
	for (const std::string &name : GetParam().lacks) {
		EXPECT_EQ(have.contains(name), GetParam().has.contains(name))
			<< name;
	}
	if (*GetParam().states) {
		EXPECT_EQ(have["uncore_llc_lookups"],
			  std::set<std::string>{
				  std::string("llc_lookup.any,filter_state=") +
				  GetParam().states});
	}
}

/// With intel_uncore, accounts of tasks count the exported events a second time, so that
/// the choice must leave counters free.
TEST(choice, leaves_counters_to_accounts_under_intel_uncore)
{
	for (const char *listing : {"intel-uncore", "hswep"}) {
		const tree sysfs(listing);
		const uncore::topology machine = sysfs.topology();
		const auto chosen = choose_events(machine, true);
		std::map<const uncore::pmu_info *, size_t> channels;

		ASSERT_TRUE(chosen);
		for (const chosen_event &choice : chosen->chosen)
			if (choice.what->pmu->box == "imc" &&
			    (choice.what->config & 0xff) != 0xff)
				channels[choice.what->pmu]++;
		EXPECT_FALSE(channels.empty());
		for (const auto &[pmu, events] : channels)
			EXPECT_EQ(events, listing[0] == 'i' ? 2u : 4u);
	}
}

using names = std::set<std::string>;

names operator+(names all, const names &more)
{
	all.insert(more.begin(), more.end());
	return all;
}

const names everywhere = {"uncore_memory_bytes",
			  "uncore_memory_clock_cycles",
			  "uncore_llc_lookups",
			  "uncore_home_agent_requests",
			  "uncore_clock_cycles",
			  "uncore_pcu_clock_cycles",
			  "uncore_active_core_cycles",
			  "uncore_frequency_limited_cycles",
			  "uncore_memory_self_refresh_cycles"};
const names qpi = {"uncore_qpi_data_bytes", "uncore_qpi_overhead_flits",
		   "uncore_qpi_clock_cycles"};
const names pcie = {"uncore_pcie_bytes"};
const names misses = {"uncore_llc_misses"};
const names stops = {"uncore_pcie_ring_used_cycles",
		     "uncore_pcie_ring_clock_cycles"};
const names bus = {"uncore_llc_lookups",      "uncore_llc_misses",
		   "uncore_snoops",	      "uncore_snoop_modified_hits",
		   "uncore_bus_clock_cycles", "uncore_bus_busy_cycles",
		   "uncore_bus_transactions"};

// Ivy Bridge can count lookups and TOR entries with only two counters of a CBo, so that
// misses are left out.
INSTANTIATE_TEST_SUITE_P(
	generations, choice_test,
	testing::Values(machine{"hswep",
				everywhere + qpi + pcie + misses + stops,
				{},
				"0x7f"},
			machine{"bdwep",
				everywhere + qpi + pcie + misses + stops,
				{},
				"0x7f"},
			machine{"bdwde", everywhere + pcie + misses + stops,
				qpi, "0x7f"},
			machine{"ivbep", everywhere + qpi + stops, misses,
				"0x3f"},
			machine{"snbep", everywhere + qpi + misses, {}, "0x1f"},
			machine{"intel-uncore",
				everywhere + qpi + pcie + misses,
				{},
				"0x7f"},
			machine{"xeon7100", bus, everywhere + qpi, ""},
			machine{"xeon7400", bus, everywhere + qpi, ""}),
	[](const auto &test) {
		std::string name = test.param.tree;

		for (char &c : name)
			c = c == '-' ? '_' : c;
		return name;
	});

} // namespace
