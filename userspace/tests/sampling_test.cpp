// SPDX-License-Identifier: LGPL-2.1-or-later
// Test which events cannot be sampled, and on which CPUs an event is sampled.
#include "sampling.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tree.hpp"

using namespace uncore;

namespace {

event event_of(std::string_view text, const topology &machine)
{
	const auto groups = parse_events(text, machine);

	if (!groups) {
		ADD_FAILURE() << text << ": " << groups.error().message;
		return {};
	}
	return groups->front().terms.front().events.front();
}

/// The reason why an event cannot be sampled, or "".
std::string refusal(std::string_view text, const topology &machine)
{
	const auto error = sampling_refusal(event_of(text, machine));

	return error ? error->message : "";
}

std::vector<int> range(int first, int last)
{
	std::vector<int> cpus(size_t(last - first + 1));

	std::iota(cpus.begin(), cpus.end(), first);
	return cpus;
}

TEST(sampling, refusals_name_the_reason)
{
	const tree recorded("hswep");
	const topology machine = recorded.topology();

	EXPECT_EQ(refusal("pcu/pkg_c3_residency/", machine),
		  "pcu/pkg_c3_residency/ cannot be sampled: its counter is "
		  "free-running, and no period can be written to it");
	EXPECT_EQ(refusal("duration_time", machine),
		  "duration_time cannot be sampled: it is a time, which has no "
		  "overflows");
	// A period can be written to a fixed counter.
	for (const char *text : {"imc_0/dclk/", "imc_0/cas_count.rd/",
				 "cbox_0/clockticks/", "cycles"})
		EXPECT_EQ(refusal(text, machine), "") << text;
}

TEST(sampling, intel_uncore_only_counts)
{
	const tree recorded("intel-uncore");
	const topology machine = recorded.topology();

	EXPECT_EQ(refusal("imc_0/event=0x04,umask=0x03/", machine),
		  "imc_0/event=0x04,umask=0x03/ cannot be sampled: "
		  "intel_uncore only counts; unload it and load xeon_uncore");
}

TEST(sampling, cpus_of_the_sockets_that_have_the_box)
{
	const tree recorded("hswep");

	EXPECT_EQ(sampled_cpus(
			  event_of("ha_0/requests.reads/", recorded.topology()),
			  recorded.topology()),
		  range(0, 35));
	// The driver's cpumask after the box of socket 0 has died.
	recorded.write(devices + "hswep_ha_0/cpumask", "18\n");
	EXPECT_EQ(sampled_cpus(
			  event_of("ha_0/requests.reads/", recorded.topology()),
			  recorded.topology()),
		  range(18, 35));
}

} // namespace
