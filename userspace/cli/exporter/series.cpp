// SPDX-License-Identifier: GPL-2.0-or-later
// Which events uncore serve counts: series.json.  Documentation/exporter.rst
// has the same list for people; selftests/exporter/serve.py holds one against
// the other.
#include "exporter/series.hpp"

namespace cli {

namespace {

#include "exporter/series_table.hpp"

const instance_label instance_labels[] = {
	{"imc", "channel", true}, {"qpi", "link", true}, {"cbox", "slice"},
	{"ha", "agent"},	  {"sbox", "stop"},	 {"r3qpi", "stop"},
	{"irp", "unit"},
};

} // namespace

std::span<const series> all_series()
{
	return chosen;
}

const instance_label *instance_label_of(std::string_view box)
{
	for (const instance_label &one : instance_labels)
		if (one.box == box)
			return &one;
	return nullptr;
}

} // namespace cli
