// SPDX-License-Identifier: GPL-2.0-or-later
// Events that uncore serve counts, from events/series.json.  The list for people is in
// Documentation/exporter.rst; selftests/exporter/serve.py compares the lists.
#include "exporter/series.hpp"

#include "exporter/tables.hpp"

namespace cli {

std::span<const series> all_series()
{
	return tables::all_series;
}

const instance_label *instance_label_of(std::string_view box)
{
	for (const instance_label &entry : tables::labels)
		if (entry.box == box)
			return &entry;
	return nullptr;
}

} // namespace cli
