// SPDX-License-Identifier: GPL-2.0-or-later
// An event that is open on one CPU.
#include "counting/cpu_event.hpp"

namespace cli {

uncore::result<cpu_event> cpu_event::open(const uncore::event &event,
					  const perf_event_attr &attributes,
					  int cpu)
{
	cpu_event one;

	if (auto opened = one.opened_.open(event, attributes, {&cpu, 1});
	    !opened)
		return opened.error();
	return one;
}

bool box_answers(const uncore::event &event, int cpu)
{
	perf_event_attr attributes = uncore::attributes_of(event);

	attributes.disabled = 1;
	// the CPU may be online again after the first try
	for (int tries = 0; tries < 2; tries++) {
		auto opened = cpu_event::open(event, attributes, cpu);

		if (opened || opened.error().code != uncore::errc::gone ||
		    !uncore::counts_events(cpu))
			return true;
	}
	return false;
}

} // namespace cli
