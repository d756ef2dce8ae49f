// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts an event list for a second and prints each box of each socket:
//
//     count imc/cas_count.rd/,imc/cas_count.wr/
#include <chrono>
#include <cstdio>
#include <thread>

#include <uncore/event.hpp>
#include <uncore/plan.hpp>
#include <uncore/session.hpp>

static int fail(const uncore::error &failure)
{
	std::fprintf(stderr, "count: %s\n", failure.message.c_str());
	return 1;
}

/// An event's count on each of its CPUs, which is one of each socket.
static void print(const uncore::event &event, uncore::counter_id counter,
		  const uncore::session &session)
{
	for (size_t i = 0; i < session.cpus(counter).size(); i++) {
		uncore::count total = session.total(counter, i);

		std::printf("socket %d  %-14s %-20s %.0f\n",
			    session.package(counter, i),
			    event.pmu ? event.pmu->name.c_str() : "",
			    event.name.c_str(), total.value);
	}
}

int main(int argc, char **argv)
{
	auto machine = uncore::topology::read();

	if (argc != 2)
		return fail({uncore::errc::invalid, "usage: count EVENT,..."});
	if (!machine)
		return fail(machine.error());

	auto groups = uncore::parse_events(argv[1], *machine);

	if (!groups)
		return fail(groups.error());

	uncore::planner planner(*machine);
	std::vector<uncore::planner::places> places;

	for (const uncore::event_group &group : *groups) {
		auto placed = planner.add(group);

		if (!placed)
			return fail(placed.error());
		places.push_back(*std::move(placed));
	}

	auto session =
		uncore::session::open(std::move(planner).finish(), *machine);

	if (!session)
		return fail(session.error());
	if (auto enabled = session->enable(); !enabled)
		return fail(enabled.error());
	std::this_thread::sleep_for(std::chrono::seconds(1));
	if (auto done = session->read(); !done)
		return fail(done.error());
	for (size_t g = 0; g < places.size(); g++)
		for (size_t t = 0; t < places[g].size(); t++)
			for (size_t e = 0; e < places[g][t].size(); e++)
				print((*groups)[g].terms[t].events[e],
				      places[g][t][e], *session);
	return 0;
}
