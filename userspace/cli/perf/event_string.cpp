// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/event_string.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cli {

/// Extract a field's value from a word of the configuration.
static uint64_t value_in(const uncore::format_field &field, uint64_t word)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (const auto &range : field.bits) {
		const unsigned width = range.high - range.low + 1;
		const uint64_t mask =
			width < 64 ? (uint64_t{1} << width) - 1 : UINT64_MAX;

		value |= (word >> range.low & mask) << shift;
		shift += width;
	}
	return value;
}

/// Does perf need the field in addition to the event's name?  It does for a parameter of
/// the event, and for a value that differs from the event's own value in the catalogue.
static bool needs_field(const uncore::event &event,
			const uncore::format_field &field)
{
	const uint64_t words[] = {event.config, event.config1, event.config2};
	uint64_t info_words[] = {0, 0, 0};

	if (event.info) {
		info_words[0] = event.info->config;
		info_words[1] = event.info->config1;
		info_words[2] = event.info->config2;
		if (std::find(event.info->parameters.begin(),
			      event.info->parameters.end(),
			      field.name) != event.info->parameters.end())
			return true;
	}
	return (words[field.word] ^ info_words[field.word]) &
	       field.place(field.max());
}

/// Does perf's parser accept the text in name=?
static bool is_name(std::string_view name)
{
	return name.find_first_not_of(
		       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
		       name.npos &&
	       (name[0] == '_' || (name[0] | 0x20) >= 'a');
}

uncore::result<std::string> perf_event_string(const uncore::event &event,
					      bool several)
{
	if (!event.pmu || event.pmu->driver == uncore::pmu_driver::other)
		return event.text;

	const uint64_t words[] = {event.config, event.config1, event.config2};
	std::string terms =
		event.info ? "," + std::string(event.info->name) : ",config=0";

	for (const uncore::format_field &field : event.pmu->formats)
		if (needs_field(event, field))
			terms +=
				fmt::format(",{}={:#x}", field.name,
					    value_in(field, words[field.word]));
	if (event.sample_period)
		terms += fmt::format(",period={}", event.sample_period);
	if (event.name != event.text) {
		if (!is_name(event.name))
			return uncore::error{
				uncore::errc::invalid,
				fmt::format(
					"perf cannot read name={}: use letters, digits, _, . and -",
					event.name)};
		terms += ",name=" + event.name;
		if (several)
			terms += "." + event.pmu->name;
	}
	return fmt::format("{}/{}/", event.pmu->name, terms.substr(1));
}

} // namespace cli
