// SPDX-License-Identifier: LGPL-2.1-or-later
#include "event/unlisted.hpp"

#include <uncore/catalogue.hpp>

#include "event/parts.hpp"
#include "format.hpp"
#include "sysfs.hpp"

namespace uncore {

std::string unlisted_code(const event &wanted, const topology &machine)
{
	const catalogue *known = catalogue::find(machine.generation());

	if (!known || !wanted.pmu || wanted.info ||
	    wanted.pmu->driver == pmu_driver::other)
		return {};

	const std::string &box = wanted.pmu->box;
	const field_info *field = known->field(box, "event");
	const auto code =
		field ? parse_format(field->name, field->bits) : std::nullopt;

	if (!code || code->word)
		return {};

	const uint64_t bits = code->place(code->max());

	for (const event_info &info : known->events())
		if (info.box == box && !((info.config ^ wanted.config) & bits))
			return {};
	return uncore::format(
		"{}: {} has no event with the code {} in the catalogue: it may count 0",
		wanted.text, box, hex(wanted.config & bits));
}

} // namespace uncore
