// SPDX-License-Identifier: LGPL-2.1-or-later
// Test the planner: which events it puts into a group, and which groups it refuses.
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

	/// Read the recorded machine, with a PMU for the core, which it lacks.
	topology read()
	{
		recorded_.write(devices + "cpu/type", "4");
		return recorded_.topology();
	}

	/// Add an event list; the test fails if the list cannot be parsed.
	result<void> add(planner &planner, std::string_view text)
	{
		auto groups = parse_events(text, machine_);

		EXPECT_TRUE(groups) << groups.error().message;
		for (const event_group &group : *groups)
			if (auto added = planner.add(group); !added)
				return added.error();
		return {};
	}

	/// Make the plan of an event list.
	plan of(std::string_view text)
	{
		planner planner(machine_);
		auto added = add(planner, text);

		EXPECT_TRUE(added) << added.error().message;
		return std::move(planner).finish();
	}

	/// Get the message about an event list that the planner must refuse.
	std::string refusal(std::string_view text)
	{
		planner planner(machine_);
		auto added = add(planner, text);

		EXPECT_FALSE(added);
		if (added)
			return "";
		EXPECT_EQ(added.error().code, errc::conflict);
		return added.error().message;
	}

	/// Make the plan of a metric.
	plan of_metric(const char *name)
	{
		planner planner(machine_);
		auto ready = metric::prepare(
			*catalogue::standard().metric(name), machine_, planner);

		EXPECT_TRUE(ready) << ready.error().message;
		return std::move(planner).finish();
	}

	tree recorded_;
	topology machine_;
};

/// The number of events in each group of a plan.
std::vector<size_t> sizes(const plan &plan)
{
	std::vector<size_t> list;

	for (const counter_group &group : plan.groups)
		list.push_back(group.members.size());
	return list;
}

using sizes_t = std::vector<size_t>;

} // namespace

TEST_F(plan_of, events_of_a_box_share_a_group)
{
	plan plan = of("imc_0/cas_count.rd/,imc_0/cas_count.wr/,imc_0/dclk/,"
		       "imc_1/cas_count.rd/");

	EXPECT_EQ(sizes(plan), (sizes_t{3, 1}));
	EXPECT_TRUE(plan.multiplexed.empty());
}

TEST_F(plan_of, each_box_has_a_group_of_its_own)
{
	size_t boxes = machine_.match("cbox").size();
	plan plan = of("cbox/clockticks/,cbox/ring_bl_used.up/");

	ASSERT_GT(boxes, 1u);
	EXPECT_EQ(sizes(plan), sizes_t(boxes, 2));
}

TEST_F(plan_of, equal_events_are_counted_once)
{
	plan plan = of("imc_0/cas_count.rd/,imc_0/event=0x04,umask=0x03/,"
		       "imc_0/cas_count.rd,name=again/");

	EXPECT_EQ(sizes(plan), sizes_t{1});
}

TEST_F(plan_of, more_events_than_counters_take_turns)
{
	plan plan = of("imc_0/cas_count.rd/,imc_0/cas_count.wr/,"
		       "imc_0/cas_count.all/,imc_0/pre_count.rd/,"
		       "imc_0/pre_count.wr/,imc_0/dclk/");

	// dclk has its own counter
	EXPECT_EQ(sizes(plan), (sizes_t{5, 1}));
	ASSERT_EQ(plan.multiplexed.size(), 1u);
	EXPECT_EQ(plan.multiplexed[0]->name, "hswep_imc_0");
}

TEST_F(plan_of, events_for_one_counter_take_turns)
{
	plan plan = of("cbox_0/tor_occupancy.all/,cbox_0/rxr_occupancy.irq/,"
		       "cbox_0/clockticks/");

	EXPECT_EQ(sizes(plan), (sizes_t{2, 1}));
	EXPECT_EQ(plan.multiplexed.size(), 1u);
}

TEST_F(plan_of, different_filter_values_take_turns)
{
	plan plan = of("cbox_0/tor_inserts.opcode,filter_opc=0x182/,"
		       "cbox_0/tor_inserts.opcode,filter_opc=0x1c8/,"
		       "cbox_0/tor_inserts.miss_opcode,filter_opc=0x182/");

	EXPECT_EQ(sizes(plan), (sizes_t{2, 1}));
}

TEST_F(plan_of, different_filters_fit_together)
{
	plan plan = of("cbox_0/tor_inserts.opcode,filter_opc=0x182/,"
		       "cbox_0/llc_lookup.any,filter_state=0x1/,"
		       "cbox_0/clockticks/");

	EXPECT_EQ(sizes(plan), sizes_t{3});
}

TEST_F(plan_of, a_thread_filter_does_not_touch_events_without_it)
{
	plan plan = of("cbox_0/tor_inserts.opcode,filter_opc=0x180/,"
		       "cbox_0/tor_inserts.opcode,filter_opc=0x180,tid_en=1,"
		       "filter_tid=0x3e/");

	EXPECT_EQ(sizes(plan), sizes_t{2});
}

TEST_F(plan_of, zero_is_a_filter_value)
{
	plan plan =
		of("cbox_0/tor_inserts.opcode,filter_opc=0x187/,"
		   "cbox_0/tor_inserts.opcode,filter_opc=0x187,filter_nc=1/");

	EXPECT_EQ(sizes(plan), (sizes_t{1, 1}));
}

TEST_F(plan_of, braces_are_kept_apart)
{
	plan plan = of("{imc_0/cas_count.rd/,imc_0/cas_count.wr/},"
		       "imc_0/cas_count.all/");

	EXPECT_EQ(sizes(plan), (sizes_t{2, 1}));
	EXPECT_TRUE(plan.groups[0].closed);
	// The groups need three of four counters: both count all of the time.
	EXPECT_TRUE(plan.multiplexed.empty());
}

TEST_F(plan_of, braces_over_all_boxes)
{
	size_t boxes = machine_.match("imc").size();

	EXPECT_EQ(sizes(of("{imc/cas_count.rd/,imc/cas_count.wr/}")),
		  sizes_t(boxes, 2));
}

TEST_F(plan_of, too_many_in_braces_name_the_events)
{
	std::string reason = refusal(
		"{imc_0/cas_count.rd/,imc_0/cas_count.wr/,imc_0/cas_count.all/,"
		"imc_0/pre_count.rd/,imc_0/pre_count.wr/}");

	EXPECT_NE(reason.find("imc_0/pre_count.wr/"), reason.npos) << reason;
	EXPECT_NE(reason.find("5 events for counters 0, 1, 2, 3"), reason.npos)
		<< reason;
}

TEST_F(plan_of, only_those_that_collide_are_named)
{
	std::string reason = refusal("{cbox_0/clockticks/,"
				     "cbox_0/tor_occupancy.all/,"
				     "cbox_0/rxr_occupancy.irq/}");

	EXPECT_EQ(reason.find("clockticks"), reason.npos) << reason;
	EXPECT_NE(reason.find("2 events for counter 0"), reason.npos) << reason;
}

TEST_F(plan_of, colliding_filters_name_the_field)
{
	std::string reason =
		refusal("{cbox_0/tor_inserts.opcode,filter_opc=0x182/,"
			"cbox_0/clockticks/,"
			"cbox_0/tor_inserts.opcode,filter_opc=0x1c8/}");

	EXPECT_NE(reason.find("filter_opc"), reason.npos) << reason;
	EXPECT_EQ(reason.find("clockticks"), reason.npos) << reason;
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
	plan plan =
		of("{cbox_0/tor_occupancy.all/,cbox_0/rxr_occupancy.irq/}:W");

	EXPECT_EQ(sizes(plan), (sizes_t{1, 1}));
}

TEST_F(plan_of, a_ratio_is_of_one_group)
{
	plan plan = of_metric("avg_tor_drd_miss_latency");

	for (const counter_group &group : plan.groups)
		EXPECT_EQ(group.members.size(), 2u);
	EXPECT_EQ(plan.groups.size(), machine_.match("cbox").size());
}

TEST_F(plan_of, a_metric_that_cannot_be_counted_at_once_is_split)
{
	// The metric has two occupancies, which only counter 0 can count, and two
	// inserts.
	plan plan = of_metric("avg_tor_drd_hit_latency");
	size_t boxes = machine_.match("cbox").size();

	EXPECT_EQ(plan.groups.size(), 2 * boxes);
	EXPECT_EQ(plan.multiplexed.size(), boxes);
	EXPECT_EQ(plan.groups[0].members.size() + plan.groups[1].members.size(),
		  4u);
}

TEST_F(plan_of, every_metric_fits_or_is_split)
{
	for (const metric_info &info : catalogue::standard().metrics()) {
		planner planner(machine_);
		auto ready = metric::prepare(info, machine_, planner);

		ASSERT_TRUE(ready)
			<< info.name << ": " << ready.error().message;

		plan finished = std::move(planner).finish();

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
