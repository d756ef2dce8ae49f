// SPDX-License-Identifier: GPL-2.0-or-later
#include "counting/event_notes.hpp"

#include <fmt/format.h>

#include "output/message.hpp"
#include "event/unlisted.hpp"

namespace cli {

void note_unlisted(std::span<const uncore::event_group> groups,
		   const uncore::topology &machine)
{
	for (const uncore::event_group &group : groups)
		for (const uncore::event_term &term : group.terms)
			if (const auto text = uncore::unlisted_code(
				    term.events.front(), machine);
			    !text.empty())
				note(text);
}

void note_periods(std::span<const uncore::event_group> groups)
{
	for (const uncore::event_group &group : groups)
		for (const uncore::event_term &term : group.terms)
			if (term.events.front().sample_period)
				note(fmt::format(
					"{}: period= is for record, and has no effect on counting",
					term.name));
}

} // namespace cli
