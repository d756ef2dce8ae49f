// SPDX-License-Identifier: LGPL-2.1-or-later
// Test how perf events are closed, and structures of older and newer headers. This file
// replaces close(2) by a function that can wait, as in the kernel, and that counts calls.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf_events.hpp"

namespace {

std::atomic<bool> slow;
std::atomic<int> waiting, most_waiting, closed;
std::atomic<bool> signals_open;

/// Wait as a close in the kernel may, and note how many threads wait at the same time.
void wait_a_while()
{
	int now = ++waiting, most = most_waiting;

	while (now > most && !most_waiting.compare_exchange_weak(most, now))
		;
	std::this_thread::sleep_for(std::chrono::milliseconds(30));
	waiting--;
}

} // namespace

extern "C" int close(int fd)
{
	static const pid_t first = getpid();

	if (slow) {
		sigset_t mask;

		pthread_sigmask(SIG_BLOCK, nullptr, &mask);
		if (gettid() != first && !sigismember(&mask, SIGINT))
			signals_open = true;
		closed++;
		wait_a_while();
	}
	return int(syscall(SYS_close, fd));
}

namespace uncore {
namespace {

constexpr int n_events = 40;

/// Open events of this process that every kernel has.
std::unique_ptr<unc_perf, perf_deleter> open_some()
{
	std::unique_ptr<unc_perf, perf_deleter> perf(unc_perf_new());
	perf_event_attr attr{};
	const int cpu = 0;

	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.disabled = 1;
	for (int i = 0; i < n_events; i++)
		if (unc_perf_open(perf.get(), &attr, &cpu, 1, -1, 1) < 0)
			return nullptr;
	return perf;
}

TEST(PerfGlue, ManyWaitTogether)
{
	auto perf = open_some();

	if (!perf)
		GTEST_SKIP() << "this user may not count";
	const int fd = unc_perf_fd(perf.get(), n_events - 1, 0);

	closed = most_waiting = 0;
	signals_open = false;
	slow = true;
	perf.reset();
	slow = false;
	EXPECT_EQ(closed, n_events);
	EXPECT_GT(most_waiting, n_events / 2);
	EXPECT_FALSE(signals_open);
	EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

/// The system's headers may be newer or older than libperf.
TEST(PerfGlue, StructuresOfOtherHeaders)
{
	struct {
		perf_event_attr attr{};
		uint64_t newer[4] = {};
	} longer;
	const int cpu = 0;

	longer.attr.type = PERF_TYPE_SOFTWARE;
	longer.attr.config = PERF_COUNT_SW_DUMMY;
	for (size_t size : {size_t(PERF_ATTR_SIZE_VER5), sizeof(longer.attr),
			    sizeof(longer)}) {
		std::unique_ptr<unc_perf, perf_deleter> perf(unc_perf_new());

		longer.attr.size = uint32_t(size);
		if (int opened = unc_perf_open(perf.get(), &longer.attr, &cpu,
					       1, -1, 1);
		    opened == -EACCES || opened == -EPERM)
			GTEST_SKIP() << "this user may not count";
		else
			EXPECT_EQ(opened, 0) << size;
	}
	longer.newer[3] = 1;

	std::unique_ptr<unc_perf, perf_deleter> perf(unc_perf_new());

	EXPECT_EQ(unc_perf_open(perf.get(), &longer.attr, &cpu, 1, -1, 1),
		  -E2BIG);
}

TEST(PerfGlue, FailedOpensAreClosedToo)
{
	perf_event_attr attr{};
	const int cpu = 0;
	std::unique_ptr<unc_perf, perf_deleter> perf(unc_perf_new());

	attr.size = sizeof(attr);
	attr.type = ~0u;
	EXPECT_LT(unc_perf_open(perf.get(), &attr, &cpu, 1, -1, 1), 0);
	perf.reset();
}

} // namespace
} // namespace uncore
