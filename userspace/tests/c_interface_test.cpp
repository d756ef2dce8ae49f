// SPDX-License-Identifier: LGPL-2.1-or-later
// Test the C interface: calls in the wrong order, errors, lost boxes, and values of
// software events of the kernel.
#include <gtest/gtest.h>

#include <string>

#include <uncore/uncore.h>

#include "c/session.hpp"
#include "fake_backend.hpp"
#include "tree.hpp"

namespace {

class c_interface : public testing::Test {
protected:
	~c_interface() override { uncore_session_free(counts_); }

	std::string message() const { return uncore_session_error(counts_); }

	tree recorded_{"hswep"};
	struct uncore_session *counts_ =
		uncore_session_new(recorded_.path().c_str());
};

} // namespace

TEST_F(c_interface, machine)
{
	EXPECT_EQ(uncore_session_packages(counts_), 2u);
	EXPECT_EQ(uncore_session_package(counts_, 1), 1);
	EXPECT_EQ(uncore_session_package(counts_, 2), -1);
	EXPECT_STREQ(uncore_version(), "0.1.0");
}

TEST_F(c_interface, errors_have_codes_and_words)
{
	EXPECT_EQ(uncore_session_add_events(counts_, "imc/cas_cuont.rd/"),
		  UNCORE_NOT_FOUND);
	EXPECT_NE(message().find("cas_count.rd"), std::string::npos);
	EXPECT_EQ(uncore_session_add_events(counts_, "{imc_0/dclk/"),
		  UNCORE_INVALID);
	EXPECT_EQ(uncore_session_add_events(
			  counts_, "{imc_0/cas_count.rd/,imc_1/dclk/}"),
		  UNCORE_CONFLICT);
	EXPECT_EQ(uncore_session_add_metrics(counts_, "mem_bw_raeds"),
		  UNCORE_NOT_FOUND);
	EXPECT_NE(message().find("mem_bw_reads"), std::string::npos);
	EXPECT_EQ(uncore_session_add_metrics(counts_, "mem_bw_reads, llc"),
		  UNCORE_OK)
		<< message();
	EXPECT_EQ(message(), "");
}

TEST_F(c_interface, a_machine_that_cannot_be_read)
{
	struct uncore_session *none = uncore_session_new("/no/such/folder");

	ASSERT_TRUE(none);
	EXPECT_EQ(uncore_session_packages(none), 0u);
	EXPECT_EQ(uncore_session_add_events(none, "cycles"), UNCORE_SYSTEM);
	EXPECT_EQ(uncore_session_open(none, 0), UNCORE_SYSTEM);
	uncore_session_free(none);
	uncore_session_free(nullptr);
}

TEST_F(c_interface, orders_that_make_no_sense)
{
	struct uncore_value value {};

	EXPECT_EQ(uncore_session_enable(counts_), UNCORE_MISUSE);
	EXPECT_EQ(uncore_session_read(counts_), UNCORE_MISUSE);
	EXPECT_EQ(uncore_session_disable(counts_), UNCORE_MISUSE);
	EXPECT_EQ(uncore_session_open(counts_, 0), UNCORE_MISUSE);
	EXPECT_EQ(uncore_session_evaluate(counts_, UNCORE_BOX, UNCORE_TOTAL),
		  0u);
	EXPECT_EQ(uncore_session_value(counts_, 0, &value), UNCORE_MISUSE);
}

TEST_F(c_interface, events_of_a_box_type)
{
	struct uncore_event event {};

	ASSERT_GT(uncore_session_list_events(counts_, "CBOX"), 100u);
	event.size = sizeof(event);
	ASSERT_EQ(uncore_session_event(counts_, 0, &event), UNCORE_OK);
	EXPECT_STREQ(event.box, "cbox");
	EXPECT_STREQ(event.reason, "");
	EXPECT_EQ(uncore_session_list_events(counts_, "fsb"), 0u);
	EXPECT_EQ(uncore_session_event(counts_, 0, &event), UNCORE_MISUSE);
}

/// A box that does not answer when the session is opened, and a box that dies later.
TEST_F(c_interface, lost_boxes_are_news_and_no_failure)
{
	const auto backend = std::make_shared<fake_backend>();
	const uncore::topology &machine = *counts_->machine;
	const auto box = [&](const char *name) {
		return machine.match(name).front();
	};
	const auto news = [&]() -> std::string {
		const char *line = uncore_session_news(counts_);

		return line ? line : "";
	};

	ASSERT_EQ(uncore_session_add_events(counts_, "imc/cas_count.rd/"),
		  UNCORE_OK);
	EXPECT_EQ(uncore_session_news(counts_), nullptr);
	backend->silent.insert({"hswep_imc_2", box("imc_2")->cpus[0]});
	ASSERT_TRUE(uncore::open_counters(*counts_->counters, {}, backend));
	EXPECT_NE(news().find("hswep_imc_2 of socket 0 does not answer"),
		  std::string::npos);
	EXPECT_EQ(news(), "");
	ASSERT_EQ(uncore_session_enable(counts_), UNCORE_OK);
	backend->files[box("imc_1")->folder / "cpumask"] = "";
	backend->advance(std::chrono::seconds(1));
	ASSERT_EQ(uncore_session_read(counts_), UNCORE_OK) << message();
	// a line for each socket, in any order
	EXPECT_NE((news() + news()).find("hswep_imc_1 of socket 1"),
		  std::string::npos);
	EXPECT_EQ(uncore_session_news(counts_), nullptr);
}

TEST_F(c_interface, values_have_their_event_and_times)
{
	const auto backend = std::make_shared<fake_backend>();
	struct uncore_value value {};

	ASSERT_EQ(uncore_session_add_metrics(counts_, "mem_bw_reads"),
		  UNCORE_OK);
	ASSERT_EQ(uncore_session_add_events(counts_, "imc_1/dclk/,imc_0/dclk/"),
		  UNCORE_OK);
	ASSERT_TRUE(uncore::open_counters(*counts_->counters, {}, backend));
	ASSERT_EQ(uncore_session_enable(counts_), UNCORE_OK);
	for (auto &group : backend->groups)
		group.share = 0.25;
	backend->advance(std::chrono::seconds(1));
	ASSERT_EQ(uncore_session_read(counts_), UNCORE_OK);
	ASSERT_EQ(
		uncore_session_evaluate(counts_, UNCORE_MACHINE, UNCORE_TOTAL),
		3u);
	for (size_t i = 0; i < 3; i++) {
		value.size = sizeof(value);
		ASSERT_EQ(uncore_session_value(counts_, i, &value), UNCORE_OK);
		EXPECT_EQ(value.index, i);
		EXPECT_EQ(value.is_metric, i == 2);
		if (value.is_metric)
			continue;
		// the sum over two sockets
		EXPECT_EQ(value.enabled_time, 2000000000u);
		EXPECT_EQ(value.running_time, 500000000u);
	}
	EXPECT_EQ(value.enabled_time, 1000000000u);
	EXPECT_EQ(value.running_time, 0u);
}

TEST_F(c_interface, packages_to_use)
{
	const int packages[] = {1, 7};

	EXPECT_EQ(uncore_session_use_packages(counts_, packages, 1), UNCORE_OK);
	EXPECT_EQ(uncore_session_use_packages(counts_, packages, 2),
		  UNCORE_NOT_FOUND);
	EXPECT_NE(message().find("package 7"), std::string::npos);
	EXPECT_EQ(uncore_session_use_packages(counts_, nullptr, 1),
		  UNCORE_INVALID);
	// A refused list changes nothing.
	EXPECT_EQ(counts_->packages, std::vector<int>{1});
	EXPECT_EQ(uncore_session_use_packages(counts_, nullptr, 0), UNCORE_OK);
	EXPECT_TRUE(counts_->packages.empty());
	ASSERT_EQ(uncore_session_add_events(counts_, "imc_0/dclk/"), UNCORE_OK);
	ASSERT_TRUE(uncore::open_counters(*counts_->counters, {},
					  std::make_shared<fake_backend>()));
	EXPECT_EQ(uncore_session_use_packages(counts_, packages, 1),
		  UNCORE_MISUSE);
}

/// A metric that add_metrics() leaves out of a group is listed with a reason, which is
/// also the error if the metric is added by its own name.
TEST(c_interface_in_tree, unavailable_metrics_of_a_group)
{
	const tree recorded("intel-uncore");
	struct uncore_session *counts =
		uncore_session_new(recorded.path().c_str());
	const size_t n = uncore_session_list_metrics(counts, "qpi");
	size_t lacking = 0;

	EXPECT_GT(n, 5u);
	for (size_t i = 0; i < n; i++) {
		struct uncore_metric metric {};

		metric.size = sizeof(metric);
		ASSERT_EQ(uncore_session_metric(counts, i, &metric), UNCORE_OK);

		const int status =
			uncore_session_add_metrics(counts, metric.name);

		EXPECT_EQ(status == UNCORE_OK, !*metric.reason) << metric.name;
		EXPECT_STREQ(uncore_session_error(counts), metric.reason);
		lacking += status != UNCORE_OK;
	}
	EXPECT_GT(lacking, 0u);
	EXPECT_LT(lacking, n);
	uncore_session_free(counts);
}

TEST(c_interface_here, counts)
{
	struct uncore_session *counts = uncore_session_new(nullptr);
	volatile char *memory = nullptr;

	ASSERT_EQ(
		uncore_session_add_events(counts, "page-faults,duration_time"),
		UNCORE_OK);
	if (uncore_session_open(counts, 0)) {
		std::string reason = uncore_session_error(counts);

		uncore_session_free(counts);
		GTEST_SKIP() << "this user may not count: " << reason;
	}
	EXPECT_EQ(uncore_session_add_events(counts, "cycles"), UNCORE_MISUSE);
	ASSERT_EQ(uncore_session_enable(counts), UNCORE_OK);
	memory = new char[1 << 20];
	for (size_t i = 0; i < 1 << 20; i += 4096)
		memory[i] = 1;
	ASSERT_EQ(uncore_session_read(counts), UNCORE_OK);
	ASSERT_EQ(uncore_session_evaluate(counts, UNCORE_MACHINE, UNCORE_TOTAL),
		  2u);

	struct uncore_value value {};

	EXPECT_EQ(uncore_session_value(counts, 0, &value), UNCORE_INVALID);
	value.size = sizeof(value);
	EXPECT_EQ(uncore_session_value(counts, 0, &value), UNCORE_OK);
	EXPECT_STREQ(value.name, "page-faults");
	EXPECT_GE(value.raw, 200u);
	EXPECT_EQ(value.package, -1);
	EXPECT_EQ(value.running, 1);
	EXPECT_EQ(uncore_session_value(counts, 2, &value), UNCORE_MISUSE);

	// the structure of an older program, which ends before raw
	value.raw = 7;
	value.size = offsetof(struct uncore_value, raw);
	EXPECT_EQ(uncore_session_value(counts, 0, &value), UNCORE_OK);
	EXPECT_EQ(value.raw, 7u);
	delete[] memory;
	uncore_session_free(counts);
}
