// SPDX-License-Identifier: GPL-2.0-or-later
// Events that uncore serve counts, from series.json.  The list for people is in
// Documentation/exporter.rst; selftests/exporter/serve.py compares the lists.
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
	for (const instance_label &entry : instance_labels)
		if (entry.box == box)
			return &entry;
	return nullptr;
}

} // namespace cli
