// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints each socket's memory bandwidth once a second: metrics with libuncore.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <uncore/metric.hpp>

static int fail(const uncore::error &failure)
{
	std::fprintf(stderr, "bandwidth: %s\n", failure.message.c_str());
	return 1;
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? std::atoi(argv[1]) : 5;
	auto machine = uncore::topology::read();

	if (!machine)
		return fail(machine.error());

	// What is wanted, and with it what has to be counted.
	uncore::planner planner(*machine);
	const auto *wanted =
		uncore::catalogue::standard().metric("mem_bw_total_rate");
	auto bandwidth = uncore::metric::prepare(*wanted, *machine, planner);

	if (!bandwidth)
		return fail(bandwidth.error());

	auto session =
		uncore::session::open(std::move(planner).finish(), *machine);

	if (!session)
		return fail(session.error());
	if (auto enabled = session->enable(); !enabled)
		return fail(enabled.error());
	for (int i = 0; i < seconds; i++) {
		std::this_thread::sleep_for(std::chrono::seconds(1));
		if (auto done = session->read(); !done)
			return fail(done.error());
		for (const uncore::metric_value &v :
		     bandwidth->evaluate(*session, uncore::period::interval,
					 uncore::scope::package))
			std::printf("socket %d: %.3f %.*s\n", v.package,
				    v.value, int(wanted->unit.size()),
				    wanted->unit.data());
		std::fflush(stdout);
	}
	return 0;
}
