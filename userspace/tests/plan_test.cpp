// SPDX-License-Identifier: LGPL-2.1-or-later
// Which events the planner puts together, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>

#include "metric.hpp"
#include "plan.hpp"
#include "tree.hpp"

using namespace uncore;

namespace {

class plan_of : public testing::Test {
protected:
	plan_of() : recorded_("hswep"), machine_(read()) {}

	/// The recorded machine's cores have no counters.
	topology read()
	{
		recorded_.write(devices + "cpu/type", "4");
		return recorded_.topology();
	}

	/// Adds an event list; fails the test when it cannot be parsed.
	result<void> add(planner &to, std::string_view text)
	{
		auto groups = parse_events(text, machine_);

		EXPECT_TRUE(groups) << groups.error().message;
		for (const event_group &group : *groups)
			if (auto added = to.add(group); !added)
				return added.error();
		return {};
	}
	plan of(std::string_view text)
	{
		planner made(machine_);
		auto added = add(made, text);

		EXPECT_TRUE(added) << added.error().message;
		return std::move(made).finish();
	}
	std::string refusal(std::string_view text)
	{
		planner made(machine_);
		auto added = add(made, text);

		EXPECT_FALSE(added);
		if (added)
			return "";
		EXPECT_EQ(added.error().code, errc::conflict);
		return added.error().message;
	}
	plan of_metric(const char *name)
	{
		planner made(machine_);
		auto ready = metric::prepare(
			*catalogue::standard().metric(name), machine_, made);

		EXPECT_TRUE(ready) << ready.error().message;
		return std::move(made).finish();
	}

	tree recorded_;
	topology machine_;
};

std::vector<size_t> sizes(const plan &made)
{
	std::vector<size_t> list;

	for (const counter_group &group : made.groups)
		list.push_back(group.members.size());
	return list;
}

using sizes_t = std::vector<size_t>;

} // namespace

TEST_F(plan_of, events_of_a_box_share_a_group)
{
	plan made = of("imc_0/cas_count.rd/,imc_0/cas_count.wr/,imc_0/dclk/,"
		       "imc_1/cas_count.rd/");

	EXPECT_EQ(sizes(made), (sizes_t{3, 1}));
	EXPECT_TRUE(made.multiplexed.empty());
}

TEST_F(plan_of, each_box_has_a_group_of_its_own)
{
	size_t boxes = machine_.match("cbox").size();
	plan made = of("cbox/clockticks/,cbox/ring_bl_used.up/");

	ASSERT_GT(boxes, 1u);
	EXPECT_EQ(sizes(made), sizes_t(boxes, 2));
}

TEST_F(plan_of, equal_events_are_counted_once)
{
	plan made = of("imc_0/cas_count.rd/,imc_0/event=0x04,umask=0x03/,"
		       "imc_0/cas_count.rd,name=again/");

	EXPECT_EQ(sizes(made), sizes_t{1});
}

TEST_F(plan_of, more_events_than_counters_take_turns)
{
	plan made = of("imc_0/cas_count.rd/,imc_0/cas_count.wr/,"
		       "imc_0/cas_count.all/,imc_0/pre_count.rd/,"
		       "imc_0/pre_count.wr/,imc_0/dclk/");

	// dclk has its own counter
	EXPECT_EQ(sizes(made), (sizes_t{5, 1}));
	ASSERT_EQ(made.multiplexed.size(), 1u);
	EXPECT_EQ(made.multiplexed[0]->name, "hswep_imc_0");
}

TEST_F(plan_of, events_for_one_counter_take_turns)
{
	plan made = of("cbox_0/tor_occupancy.all/,cbox_0/rxr_occupancy.irq/,"
		       "cbox_0/clockticks/");

	EXPECT_EQ(sizes(made), (sizes_t{2, 1}));
	EXPECT_EQ(made.multiplexed.size(), 1u);
}

TEST_F(plan_of, different_filter_values_take_turns)
{
	plan made = of("cbox_0/tor_inserts.opcode,filter_opc=0x182/,"
		       "cbox_0/tor_inserts.opcode,filter_opc=0x1c8/,"
		       "cbox_0/tor_inserts.miss_opcode,filter_opc=0x182/");

	EXPECT_EQ(sizes(made), (sizes_t{2, 1}));
}

TEST_F(plan_of, different_filters_fit_together)
{
	plan made = of("cbox_0/tor_inserts.opcode,filter_opc=0x182/,"
		       "cbox_0/llc_lookup.any,filter_state=0x1/,"
		       "cbox_0/clockticks/");

	EXPECT_EQ(sizes(made), sizes_t{3});
}

TEST_F(plan_of, a_thread_filter_does_not_touch_events_without_it)
{
	plan made = of("cbox_0/tor_inserts.opcode,filter_opc=0x180/,"
		       "cbox_0/tor_inserts.opcode,filter_opc=0x180,tid_en=1,"
		       "filter_tid=0x3e/");

	EXPECT_EQ(sizes(made), sizes_t{2});
}

TEST_F(plan_of, zero_is_a_filter_value)
{
	plan made =
		of("cbox_0/tor_inserts.opcode,filter_opc=0x187/,"
		   "cbox_0/tor_inserts.opcode,filter_opc=0x187,filter_nc=1/");

	EXPECT_EQ(sizes(made), (sizes_t{1, 1}));
}

TEST_F(plan_of, braces_are_kept_apart)
{
	plan made = of("{imc_0/cas_count.rd/,imc_0/cas_count.wr/},"
		       "imc_0/cas_count.all/");

	EXPECT_EQ(sizes(made), (sizes_t{2, 1}));
	EXPECT_TRUE(made.groups[0].closed);
	// three counters of four: both count all of the time
	EXPECT_TRUE(made.multiplexed.empty());
}

TEST_F(plan_of, braces_over_all_boxes)
{
	size_t boxes = machine_.match("imc").size();

	EXPECT_EQ(sizes(of("{imc/cas_count.rd/,imc/cas_count.wr/}")),
		  sizes_t(boxes, 2));
}

TEST_F(plan_of, too_many_in_braces_name_the_events)
{
	std::string why = refusal(
		"{imc_0/cas_count.rd/,imc_0/cas_count.wr/,imc_0/cas_count.all/,"
		"imc_0/pre_count.rd/,imc_0/pre_count.wr/}");

	EXPECT_NE(why.find("imc_0/pre_count.wr/"), why.npos) << why;
	EXPECT_NE(why.find("5 events for counters 0, 1, 2, 3"), why.npos)
		<< why;
}

TEST_F(plan_of, only_those_that_collide_are_named)
{
	std::string why = refusal("{cbox_0/clockticks/,"
				  "cbox_0/tor_occupancy.all/,"
				  "cbox_0/rxr_occupancy.irq/}");

	EXPECT_EQ(why.find("clockticks"), why.npos) << why;
	EXPECT_NE(why.find("2 events for counter 0"), why.npos) << why;
}

TEST_F(plan_of, colliding_filters_name_the_field)
{
	std::string why =
		refusal("{cbox_0/tor_inserts.opcode,filter_opc=0x182/,"
			"cbox_0/clockticks/,"
			"cbox_0/tor_inserts.opcode,filter_opc=0x1c8/}");

	EXPECT_NE(why.find("filter_opc"), why.npos) << why;
	EXPECT_EQ(why.find("clockticks"), why.npos) << why;
}

TEST_F(plan_of, one_group_cannot_be_of_two_boxes)
{
	EXPECT_NE(refusal("{imc_0/cas_count.rd/,cbox_0/clockticks/}")
			  .find("different boxes"),
		  std::string::npos);
	EXPECT_NE(refusal("{imc_0/cas_count.rd/,imc_1/cas_count.rd/}")
			  .find("different boxes"),
		  std::string::npos);
}

TEST_F(plan_of, a_weak_group_is_split)
{
	plan made =
		of("{cbox_0/tor_occupancy.all/,cbox_0/rxr_occupancy.irq/}:W");

	EXPECT_EQ(sizes(made), (sizes_t{1, 1}));
}

TEST_F(plan_of, a_ratio_is_of_one_group)
{
	plan made = of_metric("avg_tor_drd_miss_latency");

	for (const counter_group &group : made.groups)
		EXPECT_EQ(group.members.size(), 2u);
	EXPECT_EQ(made.groups.size(), machine_.match("cbox").size());
}

TEST_F(plan_of, a_metric_that_cannot_be_counted_at_once_is_split)
{
	// two occupancies, which counter 0 alone counts, and two inserts
	plan made = of_metric("avg_tor_drd_hit_latency");
	size_t boxes = machine_.match("cbox").size();

	EXPECT_EQ(made.groups.size(), 2 * boxes);
	EXPECT_EQ(made.multiplexed.size(), boxes);
	EXPECT_EQ(made.groups[0].members.size() + made.groups[1].members.size(),
		  4u);
}

TEST_F(plan_of, every_metric_fits_or_is_split)
{
	for (const metric_info &info : catalogue::standard().metrics()) {
		planner made(machine_);
		auto ready = metric::prepare(info, machine_, made);

		ASSERT_TRUE(ready)
			<< info.name << ": " << ready.error().message;

		plan finished = std::move(made).finish();

		for (const counter_group &group : finished.groups)
			EXPECT_TRUE(fit(group.members, machine_.generation()))
				<< info.name;
		EXPECT_EQ(info.one_group, finished.multiplexed.empty())
			<< info.name;
	}
}

TEST_F(plan_of, time_needs_no_counter)
{
	EXPECT_EQ(sizes(of("duration_time,imc_0/cas_count.rd/")), sizes_t{1});
}
