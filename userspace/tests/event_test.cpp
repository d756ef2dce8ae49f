// SPDX-License-Identifier: LGPL-2.1-or-later
// Test event strings on recorded trees: the configuration that a valid string resolves
// to, and the error of an invalid string.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include <linux/perf_event.h>

#include <uncore/event.hpp>

#include "tree.hpp"
#include "event/unlisted.hpp"

using namespace uncore;

namespace {

/// A recorded tree that all tests share. Tests that change files make their own tree.
class events : public testing::Test {
protected:
	static void SetUpTestSuite()
	{
		recorded_ = std::make_unique<tree>("hswep");
		machine_ = std::make_unique<topology>(recorded_->topology());
	}
	static void TearDownTestSuite()
	{
		machine_.reset();
		recorded_.reset();
	}

	static const topology &machine() { return *machine_; }

	/// Get the only event that @p text names.
	static event one(std::string_view text)
	{
		auto groups = parse_events(text, machine());

		if (!groups) {
			ADD_FAILURE() << text << ": " << groups.error().message;
			return {};
		}
		EXPECT_EQ(groups->size(), 1u) << text;
		EXPECT_EQ(groups->front().terms.size(), 1u) << text;
		EXPECT_EQ(groups->front().terms.front().events.size(), 1u)
			<< text;
		return groups->front().terms.front().events.front();
	}

	/// Get the error of an invalid event string; its message must be one line.
	static error wrong(std::string_view text)
	{
		const auto groups = parse_events(text, machine());

		if (groups) {
			ADD_FAILURE() << text << " is accepted";
			return {};
		}

		const std::string &message = groups.error().message;

		EXPECT_FALSE(message.empty());
		EXPECT_EQ(message.find('\n'), message.npos) << message;
		EXPECT_NE(message.back(), '.') << message;
		return groups.error();
	}

private:
	static std::unique_ptr<tree> recorded_;
	static std::unique_ptr<topology> machine_;
};

std::unique_ptr<tree> events::recorded_;
std::unique_ptr<topology> events::machine_;

TEST_F(events, refused)
{
	static const std::map<std::string, errc> codes = {
		{"invalid", errc::invalid},
		{"not_found", errc::not_found},
		{"unsupported", errc::unsupported}};
	std::ifstream rows(TEST_DATA "/refused.events");
	unsigned tried = 0;

	for (std::string row; std::getline(rows, row);) {
		if (row.empty() || row.starts_with('#'))
			continue;

		const size_t space = row.find(' '), bar = row.find(" | ");
		const error refusal =
			wrong(row.substr(space + 1, bar - space - 1));

		EXPECT_EQ(refusal.message, row.substr(bar + 3));
		EXPECT_EQ(refusal.code, codes.at(row.substr(0, space))) << row;
		tried++;
	}
	EXPECT_GT(tried, 0u);
}

TEST_F(events, RawCodesThatAreNoEvents)
{
	EXPECT_EQ(unlisted_code(one("imc_0/event=0x80/"), machine()),
		  "imc_0/event=0x80/: imc has no event with the code 0x80 in "
		  "the catalogue: it may count 0");
	// Codes of the catalogue are not reported, with any umask.
	for (const char *text :
	     {"imc_0/cas_count.rd/", "imc_0/event=0x4,umask=0x3/",
	      "imc_0/event=0xff/", "cbox_0/event=0x35,umask=0x1/",
	      "instructions"})
		EXPECT_EQ(unlisted_code(one(text), machine()), "") << text;
}

TEST_F(events, NamesOfPerf)
{
	for (const auto &[perf_name, own_name] :
	     {std::pair{"unc_m_cas_count.rd", "imc/cas_count.rd/"},
	      {"UNC_M_CAS_COUNT.RD", "imc/cas_count.rd/"},
	      {"unc_h_requests.reads", "ha/requests.reads/"},
	      {"llc_misses.mem_read", "imc/cas_count.rd/"}}) {
		const auto by_perf = parse_events(perf_name, machine());
		const auto by_own = parse_events(own_name, machine());

		ASSERT_TRUE(by_perf && by_own) << perf_name;

		const event_term &perf_term = by_perf->front().terms.front();
		const event_term &own_term = by_own->front().terms.front();

		EXPECT_EQ(perf_term.name, perf_name);
		ASSERT_EQ(perf_term.events.size(), own_term.events.size());
		EXPECT_EQ(perf_term.events[0].config,
			  own_term.events[0].config);
		EXPECT_EQ(perf_term.events[0].pmu, own_term.events[0].pmu);
	}
	EXPECT_EQ(wrong("unc_m_no_such_event").code, errc::not_found);
}

TEST_F(events, ModifiersOfPerfWithoutEffect)
{
	EXPECT_EQ(one("imc_0/cas_count.rd/S").config,
		  one("imc_0/cas_count.rd/").config);
	EXPECT_EQ(one("imc_0/cas_count.rd/:DW").config,
		  one("imc_0/cas_count.rd/").config);
	EXPECT_FALSE(one("instructions:S").exclude_user);

	const auto group =
		parse_events("{imc_0/cas_count.rd/,imc_0/cas_count.wr/}:SD",
			     machine());

	ASSERT_TRUE(group);
	EXPECT_FALSE(group->front().weak);
	wrong("imc_0/cas_count.rd/u");
	wrong("{imc_0/cas_count.rd/}:X");
}

} // namespace

TEST_F(events, a_name)
{
	const event reads = one("hswep_imc_3/cas_count.rd/");

	EXPECT_EQ(reads.config, 0x304u);
	EXPECT_EQ(reads.config1, 0u);
	EXPECT_EQ(reads.config2, 0u);
	EXPECT_EQ(reads.name, "hswep_imc_3/cas_count.rd/");
	ASSERT_TRUE(reads.pmu);
	EXPECT_EQ(reads.pmu->name, "hswep_imc_3");
	EXPECT_EQ(reads.type, reads.pmu->type);
	ASSERT_TRUE(reads.info);
	EXPECT_EQ(reads.info->name, "cas_count.rd");
	EXPECT_DOUBLE_EQ(reads.scale, 64.0 / 1048576);
	EXPECT_EQ(reads.unit, "MiB");
}

TEST_F(events, names_in_any_case)
{
	EXPECT_EQ(one("imc_0/CAS_COUNT.RD/").config, 0x304u);
	EXPECT_EQ(one("cbox_0/tor_inserts.OPCODE,filter_opc=DRd/").config1,
		  0x182ull << 52);
}

TEST_F(events, every_box_of_a_type)
{
	const auto groups =
		parse_events("cbox/llc_victims.m_state/", machine());

	ASSERT_TRUE(groups);

	const auto &victims = groups->front().terms.front().events;

	ASSERT_EQ(victims.size(), 18u);
	for (unsigned i = 0; i < 18; i++) {
		EXPECT_EQ(victims[i].pmu->instance, i);
		EXPECT_EQ(victims[i].config, 0x137u);
		EXPECT_EQ(victims[i].type, victims[i].pmu->type);
	}
}

TEST_F(events, values)
{
	EXPECT_EQ(one("cbox_0/tor_inserts.opcode,filter_opc=0x182/").config1,
		  0x182ull << 52);
	EXPECT_EQ(one("cbox_0/tor_inserts.opcode,filter_opc=386/").config1,
		  0x182ull << 52);
	EXPECT_EQ(one("cbox_0/tor_inserts.opcode,filter_opc=drd/").config1,
		  0x182ull << 52);
	EXPECT_EQ(one("cbox_0/llc_lookup.any,filter_state=i/").config1,
		  1ull << 17);
	EXPECT_EQ(one("cbox_0/llc_lookup.any,filter_state=e + s+m_prime/")
			  .config1,
		  0x46ull << 17);
	EXPECT_EQ(one("ha_0/addr_opc_match.opc,filter_opc=rdcode/").config1,
		  1ull << 48);
	EXPECT_EQ(one("ubox/event_msg.doorbell_rcvd,filter_tid=1,filter_cid=3/")
			  .config1,
		  7u);
}

TEST_F(events, fields)
{
	const event lookups =
		one("cbox_0/event=0x34,umask=0x11,edge,thresh=2,inv,"
		    "filter_state=0x7f/");

	EXPECT_EQ(lookups.config, 0x2841134u);
	EXPECT_EQ(lookups.config1, 0x7full << 17);
	ASSERT_TRUE(lookups.info);
	EXPECT_EQ(lookups.info->name, "llc_lookup.any");
	// The count of raw fields is not scaled, unlike the event's count by name.
	EXPECT_EQ(one("imc_0/event=0x04,umask=0x03/").scale, 1);
	EXPECT_EQ(one("imc_0/event=0x04,umask=0x03/").unit, "");
	EXPECT_EQ(one("qpi_0/event=0x138/").config, 0x200038u);
	EXPECT_EQ(one("imc_0/cas_count.rd,thresh=1/").config, 0x1000304u);
}

TEST_F(events, edge_with_a_threshold)
{
	EXPECT_EQ(one("imc_0/clockticks,edge,thresh=1/").config, 0x1040000u);
	EXPECT_EQ(one("imc_0/clockticks,edge=0/").config, 0u);
}

TEST_F(events, raw_words)
{
	const event lookups = one("cbox_0/config=0x1134,config1=0xfe0000/");

	EXPECT_EQ(lookups.config, 0x1134u);
	EXPECT_EQ(lookups.config1, 0xfe0000u);
	EXPECT_EQ(one("cbox_0/config=0x34,umask=0x11,filter_state=1/").config,
		  0x1134u);
	// A value of config1 includes the event's parameter filter_state.
	EXPECT_EQ(one("cbox_0/llc_lookup.any,config1=0x20000/").config1,
		  0x20000u);
}

TEST_F(events, name_and_period)
{
	const event reads =
		one("imc_0/cas_count.rd,name='reads, all',period=100000/");

	EXPECT_EQ(reads.name, "reads, all");
	EXPECT_EQ(reads.text,
		  "imc_0/cas_count.rd,name='reads, all',period=100000/");
	EXPECT_EQ(reads.sample_period, 100000u);
	EXPECT_EQ(one("imc_0/cas_count.rd,name=reads/").name, "reads");
}

TEST_F(events, packets_by_name)
{
	// The name of a packet sets the mask as well, so that no other packet matches.
	const event code = one("qpi_0/cto_count,match_opc=rdcode,match_tx/");

	EXPECT_EQ(code.config, 0x100200038u);
	EXPECT_EQ(code.config1, 1u << 5);
	EXPECT_EQ(code.config2, 0xfu << 5 | 0xfu << 9);

	const event data = one("qpi_0/cto_count,match_mc=drs/");

	EXPECT_EQ(data.config1, 0xeu << 9);
	EXPECT_EQ(data.config2, 0xfu << 9);
	// A number sets no mask; without a mask, all packets match.
	EXPECT_EQ(one("qpi_0/cto_count,match_mc=0xe,mask0=0/").config2, 0u);
	EXPECT_EQ(one("qpi_0/cto_count,match_mc=drs,mask_mc=8/").config2,
		  8u << 9);
}

TEST_F(events, lists_and_groups)
{
	const auto groups = parse_events(
		" imc_0/cas_count.rd/ , {imc_0/dclk/,imc_0/cas_count.wr/} ,"
		"{ha_0/clockticks/}:W,instructions",
		machine());

	ASSERT_TRUE(groups) << groups.error().message;
	ASSERT_EQ(groups->size(), 4u);
	EXPECT_FALSE((*groups)[0].braces);
	EXPECT_TRUE((*groups)[1].braces);
	EXPECT_FALSE((*groups)[1].weak);
	ASSERT_EQ((*groups)[1].terms.size(), 2u);
	EXPECT_EQ((*groups)[1].terms[1].text, "imc_0/cas_count.wr/");
	EXPECT_TRUE((*groups)[2].weak);
	EXPECT_FALSE((*groups)[3].braces);
}

TEST_F(events, of_the_core)
{
	EXPECT_EQ(one("instructions").type, PERF_TYPE_HARDWARE);
	EXPECT_EQ(one("instructions").config, PERF_COUNT_HW_INSTRUCTIONS);
	EXPECT_EQ(one("cycles").config, PERF_COUNT_HW_CPU_CYCLES);
	EXPECT_FALSE(one("cycles").pmu);
	EXPECT_EQ(one("task-clock").type, PERF_TYPE_SOFTWARE);
	EXPECT_EQ(one("LLC-load-misses").type, PERF_TYPE_HW_CACHE);
	EXPECT_EQ(one("LLC-load-misses").config, 0x10002u);
	EXPECT_EQ(one("L1-dcache-prefetches").config, 0x200u);
	EXPECT_EQ(one("r01c4").type, PERF_TYPE_RAW);
	EXPECT_EQ(one("r01c4").config, 0x1c4u);
	EXPECT_EQ(one("duration_time").type, event::duration_time);
	EXPECT_TRUE(one("instructions:u").exclude_kernel);
	EXPECT_FALSE(one("instructions:u").exclude_user);
	EXPECT_FALSE(one("instructions:uk").exclude_kernel);
	EXPECT_FALSE(one("instructions").exclude_hv);
}

TEST_F(events, of_other_pmus)
{
	EXPECT_EQ(one("msr/tsc/").config, 0u);
	EXPECT_EQ(one("msr/smi/").config, 4u);
	EXPECT_EQ(one("msr/event=4/").type, machine().find("msr")->type);
	EXPECT_FALSE(one("msr/tsc/").pmu);

	const tree recorded("no-driver");

	recorded.write(devices + "cpu/type", "4\n");
	recorded.write(devices + "cpu/format/event", "config:0-7\n");
	recorded.write(devices + "cpu/format/umask", "config:8-15\n");
	recorded.write(devices + "cpu/events/mem-loads",
		       "event=0xcd,umask=0x1,ldat=3\n");
	recorded.write(devices + "cpu/format/ldat", "config1:0-15\n");

	const topology with_core = recorded.topology();
	const auto groups = parse_events("cpu/event=0xc0,umask=0x01/u,"
					 "cpu/mem-loads/",
					 with_core);

	ASSERT_TRUE(groups) << groups.error().message;

	const event &raw = (*groups)[0].terms[0].events[0];

	EXPECT_EQ(raw.type, 4u);
	EXPECT_EQ(raw.config, 0x1c0u);
	EXPECT_TRUE(raw.exclude_kernel);
	EXPECT_EQ((*groups)[1].terms[0].events[0].config1, 3u);
}

TEST_F(events, of_the_driver_alone)
{
	const tree recorded("hswep");
	const std::string folder = devices + "hswep_irp_0/events/";

	recorded.write(folder + "brand_new", "event=0x44,umask=0x2,thresh=?\n");
	recorded.write(folder + "brand_new.scale", "2.5e-1\n");
	recorded.write(folder + "brand_new.unit", "Beers\n");

	const topology machine = recorded.topology();
	const auto groups = parse_events("irp/brand_new,thresh=3/", machine);

	ASSERT_TRUE(groups) << groups.error().message;

	const event &counted = groups->front().terms[0].events[0];

	EXPECT_EQ(counted.config, 0x3000244u);
	EXPECT_EQ(counted.scale, 0.25);
	EXPECT_EQ(counted.unit, "Beers");

	const auto without_thresh = parse_events("irp/brand_new/", machine);

	ASSERT_FALSE(without_thresh);
	EXPECT_EQ(without_thresh.error().message,
		  "hswep_irp_0/brand_new/ needs thresh=, a number up to 0xff");
	EXPECT_FALSE(parse_events("irp/brand_new.scale/", machine));
	EXPECT_FALSE(parse_events("irp/../type/", machine));
}

TEST_F(events, the_same_value_twice_is_accepted)
{
	EXPECT_EQ(one("imc_0/cas_count.rd,umask=3/").config, 0x304u);
}

TEST_F(events, malformed)
{
	static constexpr const char *texts[] = {
		"", " ", ",", "{", "}", "{}", "{,}", "/", "//", "imc_0/",
		"imc_0//", "imc_0/,/", "imc_0/cas_count.rd", "imc_0/=3/",
		"imc_0/event=/", "imc_0/cas_count.rd/,", "{imc_0/dclk/",
		"imc_0/dclk/}", "{imc_0/dclk/}:x", "{imc_0/dclk/}x",
		"imc_0/dclk/x", "imc_0/dclk/,,imc_0/dclk/", "{{imc_0/dclk/}}",
		"imc_0/name='/", "imc_0/dclk,period=0/",
		"imc_0/dclk,period=-1/", "imc_0/dclk,config=x/",
		"instructions:q", "instructions:ukp", "duration_time:u", "r",
		"rxyz", "r11112222333344445",
		"imc_0/dclk,name=\x01/", "imc_0/event==4/", "imc_0/event=4 5/",
		"\xff\xfe/\x80/", "imc_0/dclk,name=/"};

	for (const char *text : texts)
		EXPECT_FALSE(wrong(text).message.empty()) << text;
	EXPECT_TRUE(parse_events("instructions:", machine()));
}

TEST_F(events, too_many)
{
	std::string many = "*/clockticks/";

	EXPECT_FALSE(wrong("r" + std::string(70000, '1')).message.empty());
	for (int i = 0; i < 200; i++)
		many += ",cbox/clockticks/,imc/clockticks/";
	EXPECT_FALSE(wrong(many).message.empty());
	many = "cbox/clockticks/";
	for (int i = 0; i < 230; i++)
		many += ",cbox/clockticks/";
	EXPECT_EQ(wrong(many).message, "these are more than 4096 events");
}

TEST(events_of_a_hostile_driver, are_not_repeated_as_they_are)
{
	const tree recorded("hswep");
	const std::string folder = devices + "hswep_irp_0/";

	recorded.write(folder + "events/evil", "a\033[2Jb=?\n");
	recorded.write(folder + "events/long", std::string(60000, 'x') + "=?");
	recorded.write(folder + "format/thr\007sh", "config:24-31\n");

	const topology machine = recorded.topology();

	for (const char *text : {"irp/evil/", "irp/long/", "irp/event=0,thrsh/",
				 "irp/event=0,q=1/"}) {
		const auto groups = parse_events(text, machine);

		ASSERT_FALSE(groups) << text;
		EXPECT_LT(groups.error().message.size(), 1100u);
		for (const char c : groups.error().message)
			EXPECT_GE(static_cast<unsigned char>(c), ' ');
	}
}

TEST(events_without_driver, say_so)
{
	const tree recorded("no-driver");
	const topology machine = recorded.topology();
	const auto groups = parse_events("imc/cas_count.rd/", machine);

	ASSERT_FALSE(groups);
	EXPECT_EQ(groups.error().code, errc::no_driver);
	EXPECT_EQ(
		groups.error().message,
		"no PMU is called 'imc', and no uncore driver is loaded: load "
		"xeon_uncore ('uncore check' says more)");
	EXPECT_TRUE(parse_events("instructions", machine));
}

TEST(events_of_another_processor, have_no_names_of_ours)
{
	const tree recorded("intel-uncore");

	recorded.write("devices/system/cpu/modalias",
		       "cpu:type:x86,ven0000fam0006mod0055:feature:\n");

	const topology machine = recorded.topology();

	EXPECT_EQ(machine.generation(), "");

	const auto by_catalogue =
		parse_events("uncore_imc_0/cas_count.rd/", machine);

	ASSERT_FALSE(by_catalogue);
	EXPECT_EQ(by_catalogue.error().code, errc::not_found);

	const auto by_driver =
		parse_events("uncore_imc_0/cas_count_read/", machine);

	ASSERT_TRUE(by_driver);
	EXPECT_EQ(by_driver->front().terms[0].events[0].config, 0x304u);
	EXPECT_FALSE(by_driver->front().terms[0].events[0].info);
}
