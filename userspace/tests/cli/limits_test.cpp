// SPDX-License-Identifier: GPL-2.0-or-later
// limits.json against the catalogue: shares of QPI's slots are the metric's,
// and all series and boxes that it names exist.
#include "exporter/limits.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <uncore/catalogue.hpp>
#include <uncore/expression.hpp>

#include "exporter/series.hpp"

namespace {

const char *const generations[] = {"snbep", "ivbep", "hswep", "bdwep", "bdwde"};

const cli::series *series_named(const std::string &name)
{
	for (const cli::series &one : cli::all_series())
		if (one.name == name)
			return &one;
	return nullptr;
}

TEST(limits, name_series_of_their_boxes)
{
	for (const auto &limit : cli::limits_of("hswep")) {
		const std::string box = limit["box"];
		const auto &capacity = limit["capacity"];

		for (const auto &part : limit["used"]) {
			const cli::series *of = series_named(part["series"]);

			ASSERT_TRUE(of) << part;
			EXPECT_EQ(of->box, box);
		}
		if (!capacity.contains("fact")) {
			const cli::series *of =
				series_named(capacity["series"]);

			ASSERT_TRUE(of) << capacity;
			EXPECT_EQ(of->box, capacity.value("box", box));
		}
	}
}

/// A limit's share of some counts, each event's its place among them.
double share(const nlohmann::ordered_json &limit,
	     const std::map<std::string, double> &counts)
{
	const auto sum = [&counts](const nlohmann::ordered_json &part) {
		double all = 0;

		for (const auto &event : series_named(part["series"])->events)
			if (counts.contains(std::string(event.event)))
				all += counts.at(std::string(event.event)) *
				       event.factor *
				       part["factor"].get<double>();
		return all;
	};
	double used = 0;

	for (const auto &part : limit["used"])
		used += sum(part);
	return used / sum(limit["capacity"]);
}

TEST(limits, of_qpi_are_the_catalogues_metric)
{
	const std::map<std::string, double> counts = {
		{"txl_flits_g0.data", 1000},
		{"txl_flits_g0.non_data", 700},
		{"clockticks", 5000}};
	unsigned checked = 0;

	for (const char *generation : generations) {
		const auto *metric = uncore::catalogue::find(generation)
					     ->metric("qpi_tx_util");

		if (!metric)
			continue;

		const auto parsed =
			uncore::expression::parse(metric->expression);
		std::vector<double> values;

		ASSERT_TRUE(parsed) << generation;
		for (const auto &term : parsed->terms()) {
			const std::string name = term.name.substr(
				term.name.find('/') + 1,
				term.name.rfind('/') - term.name.find('/') - 1);

			ASSERT_TRUE(counts.contains(name)) << term.name;
			values.push_back(counts.at(name));
		}
		for (const auto &limit : cli::limits_of(generation))
			if (limit["name"] == "QPI") {
				EXPECT_DOUBLE_EQ(share(limit, counts),
						 parsed->evaluate(values))
					<< generation;
				checked++;
			}
	}
	EXPECT_GE(checked, 4u);
}

TEST(limits, verdict_names_what_is_full)
{
	cli::limit_use memory{.name = "memory",
			      .one = "channel",
			      .unit = "B/s",
			      .share = 0.72,
			      .capacity = 68.2e9,
			      .busy = 0.6,
			      .boxes = 4,
			      .fullest = 2,
			      .fullest_share = 0.75};
	cli::limit_use qpi{.name = "QPI",
			   .one = "link",
			   .unit = "flits/s",
			   .share = 0.12,
			   .capacity = 2.4e9,
			   .busy = 0.7,
			   .boxes = 2,
			   .fullest = 1,
			   .fullest_share = 0.12};

	EXPECT_EQ(cli::verdict({memory, qpi}),
		  "limited by memory: 72 % of 68.2GB/s, channel 2 is the "
		  "fullest (75 %); QPI 12 % (link 1)");
	memory.share = 0.3;
	memory.fullest_share = 0.31;
	EXPECT_EQ(cli::verdict({memory, qpi}),
		  "nothing limits: memory 30 % of 68.2GB/s; QPI 12 % (link 1)");
	// One channel alone, as its DIMMs are missing elsewhere.
	memory.fullest_share = 0.85;
	EXPECT_EQ(cli::verdict({memory, qpi}),
		  "limited by memory: 30 % of 68.2GB/s, channel 2 is the "
		  "fullest (85 %); QPI 12 % (link 1)");
	qpi.share = qpi.fullest_share = 0.9;
	memory.fullest_share = 0.3;
	EXPECT_EQ(cli::verdict({memory, qpi}),
		  "limited by QPI: 90 % (link 1); memory 30 % of 68.2GB/s");
	EXPECT_EQ(cli::verdict({}), "not measured");
}

} // namespace
