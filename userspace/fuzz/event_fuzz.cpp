// SPDX-License-Identifier: LGPL-2.1-or-later
// Event strings on recorded machines, one under each driver.
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

void check_term(const event_term &term, const topology &on)
{
	require(!term.events.empty(), "a term has events");
	for (const event &one : term.events) {
		require(one.scale == one.scale, "a scale is a number");
		require(!one.pmu || !one.pmu->cpus.empty(),
			"an uncore event has CPUs to be counted on");
	}
	// what it was written as means the same again
	const auto again = parse_events(term.text, on);
	require(bool(again), "a term's text parses alone");
	require(again->size() == 1 && again->front().terms.size() == 1,
		"a term's text is one term");
	const auto &events = again->front().terms.front().events;
	require(events.size() == term.events.size(), "of as many events");
	for (size_t i = 0; i < events.size(); i++)
		require(same(events[i], term.events[i]), "that are the same");
}

/// A list is added as a whole or not at all.
void check_counters(std::string_view list, const topology &on)
{
	counter_set counters(on);
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
	static const machine ours("hswep"), in_tree("intel-uncore"),
		none("no-driver");

	for (const machine *on : {&ours, &in_tree, &none}) {
		check_counters(as_text(data, size), on->topology);

		const auto groups =
			parse_events(as_text(data, size), on->topology);

		if (!groups) {
			require_clean(groups.error());
			continue;
		}
		require(!groups->empty(), "a list has groups");
		for (const event_group &group : *groups) {
			require(!group.terms.empty(), "a group has terms");
			for (const event_term &term : group.terms)
				check_term(term, on->topology);
		}
	}
	return 0;
}
