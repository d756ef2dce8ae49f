// SPDX-License-Identifier: GPL-2.0-or-later
// Text behind a number of stat or metric: the rate, and the error.
#include "counting/count_text.hpp"

#include <cmath>

#include <fmt/format.h>

#include <uncore/event.hpp>

#include "output/number.hpp"

namespace cli {

bool none_seen(const report_line &line)
{
	// The error of a metric is unknown if its events were not seen.
	if (line.value != 0 || line.counted.share >= 1)
		return false;
	return line.counted.metric ? !(line.error > 0) : !line.counted.raw;
}

double upper_bound(const report_line &line)
{
	// The event was counted for a part of the time and did not occur.  If
	// events are independent and three are expected in this part, the
	// probability of none is 5 %.  Scale three to the whole time.
	constexpr double most_unseen = 3;
	const counted_number &counted = line.counted;

	return most_unseen * double(counted.enabled.count()) /
	       double(counted.running.count()) * counted.event->scale;
}

std::string scaling_text(const report_line &line)
{
	const std::string part = percent(line.counted.share) + " of the time";

	if (line.counted.share >= 1 || !std::isfinite(line.value))
		return "";
	if (none_seen(line))
		return "none seen in " + part;
	return fmt::format("{}, counted {}", line.error_text(), part);
}

std::string rate_text(double rate, std::string_view unit)
{
	if (!std::isfinite(rate))
		return "";
	return unit.empty() ? per_second(rate)
			    : human(rate, fmt::format("{}/s", unit));
}

std::string rate_text(const report_line &line, double seconds)
{
	const uncore::event *event = line.counted.event;

	if (!event || event->type == uncore::event::duration_time)
		return "";
	return rate_text(line.value / seconds, line.counted.unit);
}

} // namespace cli
