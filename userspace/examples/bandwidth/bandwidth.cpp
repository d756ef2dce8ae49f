// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints metrics of each socket once a second, such as its memory bandwidth, in C++:
//
//	bandwidth [SECONDS [METRIC,...]]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <uncore/counter_set.hpp>

static void print(uncore::counter_set &counters)
{
	for (const std::string &line : counters.news())
		std::fprintf(stderr, "bandwidth: %s\n", line.c_str());
	for (const uncore::counted_value &v :
	     counters.values(uncore::scope::package, uncore::period::interval))
		std::printf("socket %d: %.*s %.3f %.*s\n", v.package(),
			    int(v.name().size()), v.name().data(), v.value(),
			    int(v.unit().size()), v.unit().data());
	std::fflush(stdout);
}

static uncore::result<void> run(int seconds, const char *metrics)
{
	auto machine = uncore::topology::read();

	if (!machine)
		return machine.error();

	uncore::counter_set counters(*machine);

	if (auto added = counters.add_metrics(metrics); !added)
		return added;
	if (auto opened = counters.open(); !opened)
		return opened;
	if (auto enabled = counters.enable(); !enabled)
		return enabled;
	for (int i = 0; i < seconds; i++) {
		std::this_thread::sleep_for(std::chrono::seconds(1));
		if (auto outcome = counters.read(); !outcome)
			return outcome;
		print(counters);
	}
	return {};
}

int main(int argc, char **argv)
{
	auto outcome = run(argc > 1 ? std::atoi(argv[1]) : 5,
			   argc > 2 ? argv[2] : "mem_bw_total_rate");

	if (!outcome)
		std::fprintf(stderr, "bandwidth: %s\n",
			     outcome.error().message.c_str());
	return !outcome;
}
