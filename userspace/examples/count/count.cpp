// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts an event list for a second and prints the counts of each box of each socket:
//
//     count imc/cas_count.rd/,imc/cas_count.wr/
#include <chrono>
#include <cstdio>
#include <thread>

#include <uncore/counter_set.hpp>

static uncore::result<void> run(const char *events)
{
	auto machine = uncore::topology::read();

	if (!machine)
		return machine.error();

	uncore::counter_set counters(*machine);

	if (auto added = counters.add_events(events); !added)
		return added;
	if (auto opened = counters.open(); !opened)
		return opened;
	if (auto enabled = counters.enable(); !enabled)
		return enabled;
	std::this_thread::sleep_for(std::chrono::seconds(1));
	if (auto outcome = counters.read(); !outcome)
		return outcome;
	for (const std::string &line : counters.news())
		std::fprintf(stderr, "count: %s\n", line.c_str());
	for (const uncore::counted_value &v :
	     counters.values(uncore::scope::box, uncore::period::total))
		std::printf("socket %d  %-14s %-20.*s %.6g %.*s\n", v.package(),
			    v.pmu() ? v.pmu()->name.c_str() : "",
			    int(v.name().size()), v.name().data(), v.value(),
			    int(v.unit().size()), v.unit().data());
	return {};
}

int main(int argc, char **argv)
{
	auto outcome = argc == 2 ? run(argv[1])
				 : uncore::error{uncore::errc::invalid,
						 "usage: count EVENT,..."};

	if (!outcome)
		std::fprintf(stderr, "count: %s\n",
			     outcome.error().message.c_str());
	return !outcome;
}
