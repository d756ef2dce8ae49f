// SPDX-License-Identifier: GPL-2.0-or-later
// Test the event strings for perf: fields of the driver with numbers, from which perf
// gets the same configuration as the library.
#include "perf/event_string.hpp"

#include <gtest/gtest.h>

#include "tree.hpp"

namespace {

class perf_events : public testing::Test {
protected:
	static void SetUpTestSuite()
	{
		recorded_ = std::make_unique<tree>("hswep");
		machine_ = std::make_unique<uncore::topology>(
			recorded_->topology());
	}
	static void TearDownTestSuite()
	{
		machine_.reset();
		recorded_.reset();
	}

	static uncore::event_term term(const std::string &text)
	{
		auto groups = uncore::parse_events(text, *machine_);

		if (!groups) {
			ADD_FAILURE() << text << ": " << groups.error().message;
			return {};
		}
		return groups->front().terms.front();
	}

	/// Get perf's string for the only event of a text, or the error.
	static std::string string(const std::string &text)
	{
		const auto parsed = term(text);
		const auto words =
			perf_event_string(parsed.events.at(0), false);

		return words ? *words : words.error().message;
	}

	using perf_event_string_type = decltype(&cli::perf_event_string);
	static constexpr perf_event_string_type perf_event_string =
		&cli::perf_event_string;
	static std::unique_ptr<tree> recorded_;
	static std::unique_ptr<uncore::topology> machine_;
};

std::unique_ptr<tree> perf_events::recorded_;
std::unique_ptr<uncore::topology> perf_events::machine_;

TEST_F(perf_events, names_of_values_are_numbers)
{
	EXPECT_EQ(string("imc_0/cas_count.rd/"), "hswep_imc_0/cas_count.rd/");
	EXPECT_EQ(string("cbox_3/tor_inserts.opcode,filter_opc=drd/"),
		  "hswep_cbox_3/tor_inserts.opcode,filter_opc=0x182/");
	EXPECT_EQ(string("cbox_3/llc_lookup.any,filter_state=i+m/"),
		  "hswep_cbox_3/llc_lookup.any,filter_state=0x9/");
	EXPECT_EQ(string("unc_h_imc_reads.normal").substr(0, 6), "hswep_");
}

TEST_F(perf_events, periods_and_names)
{
	EXPECT_EQ(string("imc_0/cas_count.rd,period=1000,name=reads/"),
		  "hswep_imc_0/cas_count.rd,period=1000,name=reads/");
	EXPECT_EQ(string("imc_0/cas_count.rd,name=my reads/"),
		  "perf cannot read name=my reads: use letters, digits, _, . "
		  "and -");

	const auto reads = term("imc/cas_count.rd,name=reads/");

	ASSERT_GT(reads.events.size(), 1u);
	EXPECT_EQ(*perf_event_string(reads.events[1], true),
		  "hswep_imc_1/cas_count.rd,name=reads.hswep_imc_1/");
}

TEST_F(perf_events, events_of_perf_stay)
{
	for (const char *text :
	     {"cycles", "instructions:u", "r01c4", "LLC-load-misses"})
		EXPECT_EQ(string(text), text);
}

/// perf's string for each event of the catalogue, parsed again, has the same
/// configuration.
TEST_F(perf_events, configuration_is_the_same)
{
	const auto &known = uncore::catalogue::of(*machine_);
	size_t read = 0;

	for (const uncore::event_info &info : known.events()) {
		std::string text =
			std::string(info.box) + "/" + std::string(info.name);

		for (const std::string_view parameter : info.parameters)
			text += "," + std::string(parameter) + "=1";
		text += "/";

		const auto groups = uncore::parse_events(text, *machine_);

		// The machine lacks the event, or 1 is not valid for a parameter.
		if (!groups)
			continue;
		for (const auto &event : groups->front().terms.front().events) {
			const auto words = perf_event_string(event, true);

			ASSERT_TRUE(words) << text;

			const auto again = term(*words).events.at(0);

			EXPECT_EQ(again.pmu, event.pmu) << *words;
			EXPECT_EQ(again.config, event.config) << *words;
			EXPECT_EQ(again.config1, event.config1) << *words;
			EXPECT_EQ(again.config2, event.config2) << *words;
			read++;
		}
	}
	EXPECT_GT(read, 2000u);
}

TEST_F(perf_events, codes_and_matches)
{
	for (const char *text : {"cbox_1/event=0x34,umask=0x11,filter_state=i/",
				 "qpi_0/event=0x38,match_opc=rdcode/",
				 "pcu/event=0/", "imc_2/config=0x304/"}) {
		const auto groups = uncore::parse_events(text, *machine_);

		if (!groups)
			continue;

		const auto event = groups->front().terms.front().events[0];
		const auto again = term(string(text)).events.at(0);

		EXPECT_EQ(again.config, event.config) << text;
		EXPECT_EQ(again.config1, event.config1) << text;
		EXPECT_EQ(again.config2, event.config2) << text;
	}
}

} // namespace
