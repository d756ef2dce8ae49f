// SPDX-License-Identifier: LGPL-2.1-or-later
// Test event strings for the in-tree driver, intel_uncore: events that it can count
// resolve; events that it would count wrongly are refused, by name and by number.
#include <gtest/gtest.h>

#include <map>

#include <uncore/catalogue.hpp>
#include <uncore/event.hpp>

#include "expression.hpp"
#include "tree.hpp"

using namespace uncore;

namespace {

class in_tree : public testing::Test {
protected:
	static void SetUpTestSuite()
	{
		recorded_ = std::make_unique<tree>("intel-uncore");
		machine_ = std::make_unique<topology>(recorded_->topology());
	}
	static void TearDownTestSuite()
	{
		machine_.reset();
		recorded_.reset();
	}

	static const topology &machine() { return *machine_; }

	static event one(std::string_view text)
	{
		auto groups = parse_events(text, machine());

		if (!groups) {
			ADD_FAILURE() << text << ": " << groups.error().message;
			return {};
		}
		return groups->front().terms.front().events.front();
	}

	static void expect_refused(std::string_view text,
				   std::string_view message)
	{
		const auto groups = parse_events(text, machine());

		if (groups) {
			ADD_FAILURE() << text << " is accepted";
			return;
		}
		EXPECT_EQ(groups.error().message, message) << text;
		EXPECT_EQ(groups.error().code, errc::unsupported) << text;
	}

private:
	static std::unique_ptr<tree> recorded_;
	static std::unique_ptr<topology> machine_;
};

std::unique_ptr<tree> in_tree::recorded_;
std::unique_ptr<topology> in_tree::machine_;

} // namespace

TEST_F(in_tree, its_own_names)
{
	const event reads = one("uncore_imc_0/cas_count_read/");

	EXPECT_EQ(reads.config, 0x304u);
	EXPECT_DOUBLE_EQ(reads.scale, 64.0 / 1048576);
	EXPECT_EQ(reads.unit, "MiB");
	ASSERT_TRUE(reads.info);
	EXPECT_EQ(reads.info->name, "cas_count_read");
}

TEST_F(in_tree, our_names)
{
	EXPECT_EQ(one("uncore_imc_0/cas_count.rd/").config, 0x304u);
	EXPECT_EQ(one("imc/cas_count.wr/").config, 0xc04u);
	EXPECT_EQ(one("imc_1/dclk/").config, 0xffu);
	EXPECT_EQ(one("ubox/uclk/").config, 0xffu);

	const event lookup = one("cbox_0/llc_lookup.any,filter_state=i/");

	EXPECT_EQ(lookup.config, 0x1134u);
	EXPECT_EQ(lookup.config1, 1ull << 17);

	const event tor = one(
		"cbox_0/tor_inserts.nid_opcode,filter_opc=drd,filter_nid=2/");

	EXPECT_EQ(tor.config, 0x4135u);
	EXPECT_EQ(tor.config1, 0x182ull << 52 | 2ull << 32);
	EXPECT_EQ(one("pcu/power_state_occupancy.cores_c0/").config, 0x4080u);
	EXPECT_EQ(one("pcu/freq_band0_cycles,filter_band0=20/").config1, 20u);
	EXPECT_EQ(one("qpi_0/cto_count.drs_datac_m/").config, 0x200038u);
	EXPECT_EQ(one("qpi_1/txl_flits_g0.data/").unit, "Bytes");
	EXPECT_EQ(one("ubox/event_msg.doorbell_rcvd,filter_tid=0,filter_cid=0/")
			  .config,
		  0x842u);
}

TEST_F(in_tree, fields_that_it_lacks)
{
	expect_refused("cbox_0/clockticks,thresh=1,inv/",
		       "uncore_cbox_0: intel_uncore has no field inv; load "
		       "xeon_uncore instead, which has it");
	expect_refused(
		"ha_0/addr_opc_match.opc,filter_opc=rdcode/",
		"uncore_ha_0: intel_uncore has no field filter_opc; load "
		"xeon_uncore instead, which has it");
	expect_refused(
		"ha_0/addr_opc_match.opc/",
		"uncore_ha_0: intel_uncore has no field filter_opc; load "
		"xeon_uncore instead, which has it");
	expect_refused("qpi_0/cto_count.drs_datac_m,match_tx/",
		       "uncore_qpi_0: intel_uncore has no field match_tx; load "
		       "xeon_uncore instead, which has it");
	expect_refused(
		"ha_0/config=0x120,config1=0x1000/",
		"uncore_ha_0: no field of the driver has the bits 0x1000 "
		"of config1");
}

TEST_F(in_tree, fields_in_the_wrong_place)
{
	expect_refused(
		"pcu/power_state_occupancy.cores_c0,thresh=2,occ_edge/",
		"uncore_pcu: intel_uncore puts occ_edge=0x1 in other bits "
		"than the hardware's config:31; load xeon_uncore instead, "
		"which has them right");
	// The driver's field occ_edge has all of these bits in its range.
	expect_refused("pcu/config=0x80000080/",
		       "uncore_pcu: no field of the driver has the bits "
		       "0x80000000 of config");
	expect_refused(
		"pcu/config=0x200000/",
		"uncore_pcu: no field of the driver has the bits 0x200000 "
		"of config");
	expect_refused(
		"ubox/event_msg.doorbell_rcvd,filter_tid=0,filter_cid=1/",
		"uncore_ubox: intel_uncore puts filter_cid=0x1 in other "
		"bits than the hardware's config1:1-5; load xeon_uncore "
		"instead, which has them right");
	// A field in the wrong place is accepted with the value 0.
	EXPECT_EQ(one("pcu/event=0x80,occ_sel=1,occ_edge=0/").config, 0x4080u);
}

TEST_F(in_tree, filters_that_it_ignores)
{
	expect_refused(
		"pcu/freq_band1_cycles,filter_band1=20/",
		"uncore_pcu: intel_uncore ignores filter_band1 for this "
		"event; load xeon_uncore instead, which obeys all filters");
	expect_refused(
		"pcu/event=0x0d,filter_band2=1/",
		"uncore_pcu: intel_uncore ignores filter_band2 for this "
		"event; load xeon_uncore instead, which obeys all filters");
	expect_refused(
		"ubox/event_msg.doorbell_rcvd,filter_tid=1,filter_cid=0/",
		"uncore_ubox: intel_uncore ignores filter_tid for this "
		"event; load xeon_uncore instead, which obeys all filters");
	expect_refused(
		"qpi_2/cto_count.drs_datac_m/",
		"uncore_qpi_2: intel_uncore ignores match0 for this event; "
		"load xeon_uncore instead, which obeys all filters");
	expect_refused(
		"cbox_0/llc_lookup.nid,filter_state=i,filter_nid=1/",
		"uncore_cbox_0: intel_uncore ignores filter_nid for this "
		"event; load xeon_uncore instead, which obeys all filters");
	expect_refused(
		"cbox_0/config=0x5134,config1=0x20000/",
		"uncore_cbox_0: intel_uncore ignores filter_state for this "
		"event; load xeon_uncore instead, which obeys all filters");
	// A sum is refused if one of its boxes ignores the filter.
	expect_refused(
		"qpi/cto_count.drs_datac_m/",
		"uncore_qpi_2: intel_uncore ignores match0 for this event; "
		"load xeon_uncore instead, which obeys all filters");
}

TEST_F(in_tree, events_that_it_miscounts)
{
	const std::string twice =
		": intel_uncore writes a control register once, and the "
		"hardware keeps counting the event before ";
	const std::string end = "; load xeon_uncore instead, which counts it";

	expect_refused("sbox_0/ring_bl_used.up/",
		       "uncore_sbox_0" + twice + "(§2.4.2.2)" + end);
	expect_refused("r2pcie/event=0/",
		       "uncore_r2pcie" + twice + "(§2.10.2.2)" + end);
	expect_refused("r3qpi_0/config=0x01/",
		       "uncore_r3qpi_0" + twice + "(§2.11.2.2)" + end);
	expect_refused("ha_0/conflict_cycles/",
		       "uncore_ha_0: intel_uncore puts this event on counters "
		       "that cannot count it (§2.5.5)" +
			       end);
	expect_refused("ha_0/event=0x0b,edge,thresh=1/",
		       "uncore_ha_0: intel_uncore puts this event on counters "
		       "that cannot count it (§2.5.5)" +
			       end);
	expect_refused(
		"qpi_0/link_idle/",
		"uncore_qpi_0: intel_uncore has no free-running counters "
		"here (§2.9.2.4)" +
			end);
	expect_refused("pcu/pkg_c2_residency/",
		       "uncore_pcu: intel_uncore has no field umask" +
			       std::string("; load xeon_uncore instead, which "
					   "has it"));
}

/// Each accepted event has the config, config1 and config2 of the catalogue.
TEST_F(in_tree, accepted_events_have_the_catalogues_words)
{
	std::map<std::string, std::pair<size_t, size_t>> counts;

	for (const event_info &info : catalogue::standard().events()) {
		std::string text =
			std::string(info.box) + '/' + std::string(info.name);

		for (const std::string_view parameter : info.parameters)
			text += ',' + std::string(parameter) + "=0";
		const auto groups = parse_events(text + '/', machine());
		auto &[accepted, refused] = counts[std::string(info.box)];
		if (!groups) {
			EXPECT_EQ(groups.error().code, errc::unsupported)
				<< groups.error().message;
			refused++;
			continue;
		}
		const event &found = groups->front().terms[0].events[0];
		EXPECT_EQ(found.config, info.config) << text;
		EXPECT_EQ(found.config1, info.config1) << text;
		EXPECT_EQ(found.config2, info.config2) << text;
		accepted++;
	}
	for (const char *box : {"ubox", "cbox", "imc", "irp"}) {
		EXPECT_GT(counts[box].first, 0u) << box;
		EXPECT_EQ(counts[box].second, 0u) << box;
	}
	for (const char *box : {"sbox", "r2pcie", "r3qpi"})
		EXPECT_EQ(counts[box].first, 0u) << box;
	EXPECT_GT(counts["ha"].first, 100u);
	EXPECT_GT(counts["pcu"].first, 30u);
	EXPECT_GT(counts["qpi"].first, 100u);
}

TEST_F(in_tree, metrics)
{
	std::map<std::string, size_t> usable;

	for (const metric_info &metric : catalogue::standard().metrics()) {
		const auto formula = expression::parse(metric.expression);
		bool whole = true;

		ASSERT_TRUE(formula);
		for (const expression::term &term : formula->terms()) {
			const auto groups = parse_events(term.name, machine());

			if (!groups) {
				EXPECT_EQ(groups.error().code,
					  errc::unsupported)
					<< groups.error().message;
			}
			whole = whole && groups;
		}
		usable[std::string(metric.box)] += whole;
	}
	EXPECT_GT(usable["imc"], 30u);
	EXPECT_GT(usable["cbox"], 25u);
	EXPECT_GT(usable["qpi"], 5u);
	EXPECT_EQ(usable["pcu"], 3u);
	EXPECT_EQ(usable["sbox"], 0u);
}
