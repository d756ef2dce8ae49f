// SPDX-License-Identifier: GPL-2.0-or-later
// Compare the exporter's limits with the catalogue: a limit has the value of its
// metrics, and all series and boxes that a limit names exist.
#include "exporter/limits.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <uncore/catalogue.hpp>

#include "exporter/series.hpp"
#include "expression.hpp"

namespace {

using json = nlohmann::ordered_json;

const char *const generations[] = {"snbep", "ivbep", "hswep", "bdwep", "bdwde"};

const cli::series *series_of(const std::string &box, const std::string &name)
{
	for (const cli::series &series : cli::all_series())
		if (series.name == name && series.box == box)
			return &series;
	return nullptr;
}

TEST(limits, name_series_of_their_boxes)
{
	for (const auto &limit : cli::limits_of("hswep")) {
		const std::string box = limit["box"];
		const auto &capacity = limit["capacity"];

		for (const auto &part : limit["used"]) {
			EXPECT_TRUE(series_of(box, part["series"])) << part;
		}
		if (!capacity.contains("fact")) {
			EXPECT_TRUE(series_of(capacity.value("box", box),
					      capacity["series"]))
				<< capacity;
		}
	}
}

/// Make up a count of an event. All clocks have the same count.
double count_of(std::string_view event)
{
	if (event == "uclk" || event == "clockticks" || event == "dclk")
		return 1e6;
	return 1000 + double(std::hash<std::string_view>()(event) % 100000);
}

/// The event's name in a term: "cas_count.rd" in "imc/cas_count.rd/".
std::string event_of(const std::string &term)
{
	const size_t begin = term.find('/') + 1;

	return term.substr(begin, term.rfind('/') - begin);
}

/// Compute the share of a limit that is used, from the counts of the given events.
/// If the limit has a label in "by", return the largest share of a value of the label.
double share(const json &limit, const std::set<std::string> &events)
{
	const auto add = [&](const json &part, const std::string &by,
			     auto &sums) {
		for (const auto &event :
		     series_of(part.value("box", std::string(limit["box"])), part["series"])
			     ->events) {
			std::string way;

			if (!events.contains(std::string(event.event)))
				continue;
			for (const auto &label : event.labels)
				if (label.name == by)
					way = label.value;
			sums[way] += count_of(event.event) * event.factor *
				     part["factor"].get<double>();
		}
	};
	std::map<std::string, double> used, most;
	double fullest = 0;

	for (const auto &part : limit["used"])
		add(part, limit.value("by", ""), used);
	add(limit["capacity"], "", most);
	for (const auto &[way, value] : used)
		fullest = std::max(fullest, value / most.at(""));
	return fullest;
}

/// Evaluate the metrics of a limit, and add the names of their events to @p events.
/// @return the largest value
double value_of(const json &limit, const uncore::catalogue &known,
		std::set<std::string> &events)
{
	double largest = 0;

	for (const std::string metric : limit["metrics"]) {
		const auto parsed = uncore::expression::parse(
			known.metric(metric)->expression);
		std::vector<double> values;

		for (const auto &term : parsed->terms()) {
			events.insert(event_of(term.name));
			values.push_back(count_of(event_of(term.name)));
		}
		largest = std::max(largest, parsed->evaluate(values));
	}
	return largest;
}

TEST(limits, are_the_catalogues_metrics)
{
	std::map<std::string, unsigned> checked;

	for (const char *generation : generations)
		for (const auto &limit : cli::limits_of(generation)) {
			std::set<std::string> events = {"uclk"};

			if (!limit.contains("metrics"))
				continue;

			const double want = value_of(
				limit, *uncore::catalogue::find(generation),
				events);

			EXPECT_DOUBLE_EQ(share(limit, events), want)
				<< generation << " " << limit;
			EXPECT_GT(want, 0);
			checked[limit["name"]]++;
		}
	EXPECT_EQ(checked,
		  (std::map<std::string, unsigned>{{"memory", 5},
						   {"QPI", 4},
						   {"cache", 5},
						   {"home agent", 5},
						   {"ring", 2},
						   {"ring at PCIe", 5},
						   {"ring at QPI", 4},
						   {"power or heat", 5}}));
}

TEST(limits, verdict_names_what_is_full)
{
	cli::limit_use memory{.name = "memory",
			      .one = "channel",
			      .unit = "B/s",
			      .share = 0.72,
			      .capacity = 68.2e9,
			      .known = "computed",
			      .busy = 0.6,
			      .box_busy = 0.8,
			      .named = true,
			      .boxes = 4,
			      .fullest = 2,
			      .fullest_share = 0.75,
			      .computed = 0.72};
	cli::limit_use qpi{.name = "QPI",
			   .one = "link",
			   .unit = "flits/s",
			   .share = 0.12,
			   .capacity = 2.4e9,
			   .busy = 0.7,
			   .box_busy = 0.85,
			   .named = true,
			   .boxes = 2,
			   .fullest = 1,
			   .fullest_share = 0.12};

	EXPECT_EQ(cli::judge({memory, qpi}).text(),
		  "limited by memory: 72 % of 63.5 GiB/s computed, channel 2 is "
		  "the fullest (75 %); QPI 12 % (link 1)");
	memory.share = memory.computed = 0.3;
	memory.fullest_share = 0.31;
	EXPECT_EQ(
		cli::judge({memory, qpi}).text(),
		"nothing limits: memory 30 % of 63.5 GiB/s computed; QPI 12 % (link 1)");
	// Only one channel is busy: the other channels have no DIMMs.
	memory.fullest_share = 0.85;
	EXPECT_EQ(cli::judge({memory, qpi}).text(),
		  "limited by memory: 30 % of 63.5 GiB/s computed, channel 2 is "
		  "the fullest (85 %); QPI 12 % (link 1)");
	qpi.share = qpi.fullest_share = 0.9;
	memory.fullest_share = 0.3;
	EXPECT_EQ(cli::judge({memory, qpi}).text(),
		  "limited by QPI: 90 % (link 1); memory 30 % of 63.5 GiB/s computed");
	// A measured peak is less than what is computed from the clock.
	qpi.share = qpi.fullest_share = 0.1;
	memory.share = 0.9;
	memory.capacity = 34.1e9;
	memory.known = "measured";
	memory.busy = 0.8;
	memory.fullest_share = 0.46;
	memory.computed = 0.45;
	EXPECT_EQ(cli::judge({memory, qpi}).text(),
		  "limited by memory: 90 % of 31.8 GiB/s measured; QPI 10 % (link 1)");
	memory.fullest_share = 0.5;
	EXPECT_EQ(cli::judge({memory, qpi}).text(),
		  "limited by memory: 90 % of 31.8 GiB/s measured, channel 2 is the "
		  "fullest (50 % of what is computed); QPI 10 % (link 1)");
	EXPECT_EQ(cli::judge({}).text(), "not measured");
	EXPECT_EQ(cli::judge({}, {"Memory channel 3 is dead"}).text(),
		  "not measured: Memory channel 3 is dead");
}

TEST(limits, verdict_sees_remote_memory)
{
	std::vector<cli::limit_use> uses = {
		{.name = "memory",
		 .one = "channel",
		 .unit = "B/s",
		 .share = 0.16,
		 .capacity = 68.2e9,
		 .known = "computed",
		 .busy = 0.6,
		 .named = true,
		 .boxes = 1},
		{.name = "QPI",
		 .one = "link",
		 .share = 0.02,
		 .busy = 0.7,
		 .named = true,
		 .boxes = 1},
		{.name = "remote memory",
		 .share = 0.75,
		 .capacity = 100e6,
		 .from = 0.25,
		 .busy = 0.5,
		 .of = "LLC misses",
		 .least = 8e6,
		 .boxes = 8},
	};

	// The lines arrive by QPI, whose own requests are few.
	EXPECT_EQ(
		cli::judge(uses).text(),
		"limited by remote memory: 75 % of LLC misses; memory 16 % of "
		"63.5 GiB/s computed; QPI 2.0 %");
	// A full box is reported before remote memory, however many misses are remote.
	uses[0].share = uses[0].fullest_share = 0.7;
	EXPECT_EQ(cli::judge(uses).text(),
		  "limited by memory: 70 % of 63.5 GiB/s computed; QPI 2.0 %; remote "
		  "memory 75 % of LLC misses");
	// A part of remote misses is worth a remark.
	uses[0].share = uses[0].fullest_share = 0.1;
	uses[2].share = 0.4;
	EXPECT_EQ(cli::judge(uses).text(),
		  "nothing limits: memory 10 % of 63.5 GiB/s computed; QPI 2.0 %; remote "
		  "memory 40 % of LLC misses");
	// Few misses are not, however many of them are remote.
	uses[2].share = 1;
	uses[2].capacity = 1e6;
	EXPECT_EQ(cli::judge(uses).text(),
		  "nothing limits: memory 10 % of 63.5 GiB/s computed; QPI 2.0 %");
}

} // namespace
