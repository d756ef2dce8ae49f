// SPDX-License-Identifier: GPL-2.0-or-later
// What report makes of files of samples.
#include "commands/commands.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "perf_data.hpp"

namespace {

using json = nlohmann::json;

/// The names of PMUs by type, and the sockets of the CPUs, as features.
using features = std::vector<std::pair<unsigned, std::string>>;

features machine(const std::vector<std::pair<uint32_t, std::string>> &pmus,
		 const std::vector<uint32_t> &sockets)
{
	byte_writer names, places;

	names.add(uint32_t(pmus.size()));
	for (const auto &[type, name] : pmus)
		names.add(type).add(uint32_t(64)).text(name, 64);
	// a list of one string each
	places.add(uint32_t(1)).add(uint32_t(64)).text("0-3", 64);
	places.add(uint32_t(0));
	for (const uint32_t socket : sockets)
		places.add(uint32_t(0)).add(socket);
	return {{cli::feature_cpu_topology, places.bytes},
		{cli::feature_pmus, names.bytes}};
}

json report(const std::string &contents)
{
	char path[] = "/tmp/uncore-report.XXXXXX";
	cli::command_line app("uncore", "", "");
	cli::context shared;

	close(mkstemp(path));
	std::ofstream(path) << contents;
	cli::add_report(app, shared);
	EXPECT_TRUE(app.parse({"report", "--json", "-i", path}));
	testing::internal::CaptureStdout();
	EXPECT_EQ(shared.action(), 0);

	const std::string text = testing::internal::GetCapturedStdout();

	unlink(path);
	return json::parse(text, nullptr, false);
}

std::string sample_on(uint64_t id, uint64_t cpu, uint64_t period)
{
	return sample(id, 1, {1, 1}, 1, period, PERF_RECORD_MISC_USER, cpu);
}

TEST(Report, NamesWithBlanks)
{
	const json shown = report(perf_data(
		{{7, with_period, 1, false, "my fast", 30},
		 {8, with_period, 1, false, "my slow", 31},
		 {9, with_period, 1, false, "my sum hswep_imc_0", 30},
		 {10, with_period, 1, false, "my sum hswep_imc_1", 31}},
		sample_on(7, 0, 5) + sample_on(8, 0, 6) + sample_on(9, 0, 1) +
			sample_on(10, 0, 2),
		machine({{30, "hswep_imc_0"}, {31, "hswep_imc_1"}}, {0})));
	const json &events = shown["events"];

	ASSERT_EQ(events.size(), 3u);
	EXPECT_EQ(events[0]["event"], "my fast");
	EXPECT_EQ(events[0]["counts"], 5);
	EXPECT_EQ(events[1]["event"], "my slow");
	EXPECT_EQ(events[1]["counts"], 6);
	EXPECT_EQ(events[2]["event"], "my sum");
	EXPECT_EQ(events[2]["counts"], 3);
}

/// CPUs 0 and 1 are of one socket, CPU 2 of another.
TEST(Report, CountsOfSeveralCpus)
{
	const json shown = report(
		perf_data({{7, with_period, 1, false, "reads", 30},
			   {8, with_period, 1, false, "faults", 1}},
			  sample_on(7, 0, 100) + sample_on(7, 1, 100) +
				  sample_on(7, 2, 10) + sample_on(8, 0, 1) +
				  sample_on(8, 1, 1),
			  machine({{30, "hswep_imc_0"}}, {0, 0, 1, 1})));
	const json &events = shown["events"];

	ASSERT_EQ(events.size(), 2u);
	EXPECT_EQ(events[0]["counts"], 110);
	EXPECT_EQ(events[0]["samples"], 3);
	EXPECT_EQ(events[0]["cpus"], (json{0, 1, 2}));
	// the kernel's own events are each CPU's
	EXPECT_EQ(events[1]["counts"], 2);
	EXPECT_EQ(events[1]["cpus"], (json{0, 1}));
	ASSERT_EQ(shown["boxes"].size(), 3u);
	EXPECT_EQ(shown["boxes"][0]["socket"], 0);
	EXPECT_EQ(shown["boxes"][0]["event"], "reads");
	EXPECT_EQ(shown["boxes"][0]["pmu"], "hswep_imc_0");
	EXPECT_EQ(shown["boxes"][0]["counts"], 100);
	EXPECT_EQ(shown["boxes"][1]["socket"], 1);
	EXPECT_EQ(shown["driver"], "xeon_uncore");
	EXPECT_EQ(shown["generation"], "hswep");
}

} // namespace
