// SPDX-License-Identifier: LGPL-2.1-or-later
// Compare the library's planner with the driver, which have the rules of counter
// assignment in separate tables. On a machine with the driver, perf_event_open() must
// accept a random group if and only if the planner accepts it.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "plan.hpp"
#include "session.hpp"

using namespace uncore;

namespace {

/// Two values of each filter field, so that the events of some groups agree on a value
/// and the events of other groups do not.
const std::map<std::string_view, std::array<const char *, 2>> values = {
	{"filter_opc", {"0x02", "0x03"}},
	{"filter_nid", {"0x1", "0x2"}},
	{"filter_state", {"0x1", "0x7f"}},
	{"filter_addr", {"0x1000", "0x2000"}},
	{"filter_tid", {"0", "1"}},
	{"filter_cid", {"0", "3"}},
	{"filter_band0", {"10", "20"}},
	{"filter_band1", {"10", "20"}},
	{"filter_band2", {"10", "20"}},
	{"filter_band3", {"10", "20"}},
	{"match0", {"0x1c00", "0x1800"}},
	{"mask0", {"0x1f80", "0x1f00"}},
};

class groups_of : public testing::TestWithParam<const char *> {
protected:
	groups_of() : machine_(topology::read()) {}

	void SetUp() override
	{
		if (!machine_ || machine_->match(GetParam()).empty())
			GTEST_SKIP() << "no PMU " << GetParam();
		for (const event_info &info : catalogue::standard().events())
			if (info.box == GetParam())
				infos_.push_back(&info);
	}

	/// Get the text of a random event of the first box of the type, with values for
	/// all parameters.
	std::string random_event()
	{
		const event_info &info = *infos_[random_() % infos_.size()];
		std::string text = machine_->match(GetParam())[0]->name + "/" +
				   std::string(info.name);

		for (std::string_view field : info.parameters)
			text += "," + std::string(field) + "=" +
				values.at(field)[random_() % 2];
		if (info.box == "cbox" && random_() % 4 == 0)
			text += random_() % 2 ? ",tid_en=1,filter_tid=0x3e"
					      : ",tid_en=1,filter_tid=0x3f";
		return text + "/";
	}
	/// Open the events as a group. @return the kernel's error, if any.
	result<void> opens(const std::vector<event> &events)
	{
		plan single;

		single.groups.push_back({events.front().pmu, events, true});

		auto opened = session::open(single, *machine_);

		if (!opened)
			return opened.error();
		return {};
	}

	result<topology> machine_;
	std::vector<const event_info *> infos_;
	std::mt19937 random_{7};
};

} // namespace

TEST_P(groups_of, open_when_they_fit)
{
	int fitting = 0, refused = 0;

	for (int round = 0; round < 300; round++) {
		std::vector<event> events;
		std::string text;

		for (unsigned n = 2 + random_() % 4; n > 0; n--) {
			std::string event_text = random_event();
			auto parsed = parse_events(event_text, *machine_);

			ASSERT_TRUE(parsed) << parsed.error().message;
			events.push_back(
				parsed->front().terms.front().events.front());
			text += event_text + " ";
		}

		auto planned = fit(events, machine_->generation());
		auto opened = opens(events);

		fitting += bool(planned);
		refused += !planned;
		EXPECT_EQ(bool(planned), bool(opened))
			<< text << ": "
			<< (planned ? opened.error() : planned.error()).message;
	}
	RecordProperty("fitting", fitting);
	RecordProperty("refused", refused);
	// The comparison needs groups that fit and groups that are refused.
	EXPECT_GT(fitting, 10);
	if (infos_.size() > 8) {
		EXPECT_GT(refused, 10);
	}
}

INSTANTIATE_TEST_SUITE_P(driver, groups_of,
			 testing::Values("ubox", "cbox", "sbox", "ha", "imc",
					 "irp", "pcu", "qpi", "r2pcie",
					 "r3qpi"),
			 [](const auto &info) {
				 return std::string(info.param);
			 });
