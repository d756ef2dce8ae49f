// SPDX-License-Identifier: LGPL-2.1-or-later
#include "event/unlisted.hpp"

#include <uncore/catalogue.hpp>

#include "event/parts.hpp"
#include "format.hpp"
#include "sysfs.hpp"

namespace uncore {

std::string unlisted_code(const event &counted, const topology &machine)
{
	const catalogue *names = catalogue::find(machine.generation());

	if (!names || !counted.pmu || counted.info ||
	    counted.pmu->driver == pmu_driver::other)
		return {};

	const std::string &box = counted.pmu->box;
	const field_info *field = names->field(box, "event");
	const auto code =
		field ? parse_format(field->name, field->bits) : std::nullopt;

	if (!code || code->word)
		return {};

	const uint64_t bits = code->place(code->max());

	for (const event_info &info : names->events())
		if (info.box == box && !((info.config ^ counted.config) & bits))
			return {};
	return uncore::format(
		"{}: {} has no event with the code {} in the catalogue: it may count 0",
		counted.text, box, hex(counted.config & bits));
}

} // namespace uncore
