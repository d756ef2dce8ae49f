// SPDX-License-Identifier: LGPL-2.1-or-later
// Fuzz parse_events() and counter_set: event strings and lists of metrics, on
// recorded machines with xeon_uncore, with intel_uncore and without a driver.
#include "fuzz.hpp"

#include <uncore/counter_set.hpp>
#include <uncore/event.hpp>

#include "tree.hpp"

using namespace uncore;

namespace {

struct machine {
	explicit machine(const char *listing)
		: files(listing), topology(files.topology())
	{
	}

	tree files;
	uncore::topology topology;
};

bool same(const event &a, const event &b)
{
	return a.type == b.type && a.config == b.config &&
	       a.config1 == b.config1 && a.config2 == b.config2 &&
	       a.pmu == b.pmu && a.sample_period == b.sample_period;
}

void check_term(const event_term &term, const topology &machine)
{
	require(!term.events.empty(), "a term has events");
	for (const event &event : term.events) {
		require(event.scale == event.scale, "a scale is a number");
		require(!event.pmu || !event.pmu->cpus.empty(),
			"an uncore event has CPUs to be counted on");
	}

	// parse the text of the term again: the same events
	const auto again = parse_events(term.text, machine);

	require(bool(again), "a term's text parses alone");
	require(again->size() == 1 && again->front().terms.size() == 1,
		"a term's text is one term");

	const auto &events = again->front().terms.front().events;

	require(events.size() == term.events.size(), "of as many events");
	for (size_t i = 0; i < events.size(); i++)
		require(same(events[i], term.events[i]), "that are the same");
}

/// Check that a counter_set adds all events or metrics of a list, or none.
void check_counters(std::string_view list, const topology &machine)
{
	counter_set counters(machine);
	const auto events = counters.add_events(list);
	const size_t terms = counters.size();

	if (!events)
		require_clean(events.error());
	require(bool(events) == (terms > 0), "events are added or not");

	const auto metrics = counters.add_metrics(list);

	if (!metrics)
		require_clean(metrics.error());
	require(bool(metrics) == (counters.size() > terms),
		"metrics are added or not");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const machine with_xeon_uncore("hswep"),
		with_intel_uncore("intel-uncore"), without_driver("no-driver");

	for (const machine *recorded :
	     {&with_xeon_uncore, &with_intel_uncore, &without_driver}) {
		check_counters(as_text(data, size), recorded->topology);

		const auto groups =
			parse_events(as_text(data, size), recorded->topology);

		if (!groups) {
			require_clean(groups.error());
			continue;
		}
		require(!groups->empty(), "a list has groups");
		for (const event_group &group : *groups) {
			require(!group.terms.empty(), "a group has terms");
			for (const event_term &term : group.terms)
				check_term(term, recorded->topology);
		}
	}
	return 0;
}
