// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers for people.
#include "output/number.hpp"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace cli {

std::string grouped(double count)
{
	if (std::isnan(count))
		return "-";

	std::string digits = fmt::format("{:.0f}", count);
	size_t first = digits.front() == '-';

	for (size_t i = digits.size(); i > first + 3;)
		digits.insert(i -= 3, 1, ',');
	return digits;
}

/// Format a value with the decimals of four significant digits.
static std::string four_digits(double value)
{
	double size = std::fabs(value);

	if (size >= 1000 || size == 0)
		return grouped(value);
	if (size < 0.001)
		return fmt::format("{:.3g}", value);
	return fmt::format("{:.{}f}", value,
			   size >= 100	? 1
			   : size >= 10 ? 2
					: 3);
}

double bytes_in(std::string_view unit)
{
	static constexpr std::pair<std::string_view, double> sizes[] = {
		{"Bytes", 1},	 {"B", 1},    {"KiB", 0x1p10}, {"kB", 1e3},
		{"MiB", 0x1p20}, {"MB", 1e6}, {"GB", 1e9},     {"GiB", 0x1p30}};

	for (const auto &[name, size] : sizes)
		if (name == unit)
			return size;
	return 0;
}

static std::string bytes(double value)
{
	static const char *const units[] = {"B",   "KiB", "MiB", "GiB",
					    "TiB", "PiB", "EiB"};
	size_t i = 0;

	while (std::fabs(value) >= 1024 && i + 1 < std::size(units)) {
		value /= 1024;
		i++;
	}
	return fmt::format("{} {}", four_digits(value), units[i]);
}

std::string human(double value, std::string_view unit)
{
	if (std::isnan(value) || std::isinf(value))
		return "-";

	const std::string_view suffix = unit.ends_with("/s") ? "/s" : "";

	if (const double size =
		    bytes_in(unit.substr(0, unit.size() - suffix.size())))
		return bytes(value * size).append(suffix);
	if (unit.empty())
		return value == std::floor(value) ? grouped(value)
						  : four_digits(value);
	if (unit == "%") // and no "-0.00"
		return fmt::format("{:.2f} %",
				   std::fabs(value) < 0.005 ? 0 : value);
	return fmt::format("{} {}", four_digits(value), unit);
}

std::string short_number(double value, bool binary)
{
	static constexpr std::array prefixes = {"", "k", "M", "G", "T", "P"};
	double thousand = binary ? 1024 : 1000;
	double size = std::fabs(value);
	size_t i = 0;

	if (!std::isfinite(value))
		return "-";
	for (; size >= 999.5 && i + 1 < prefixes.size(); i++)
		size /= thousand;

	bool is_integer = i == 0 && size == std::floor(size);

	return fmt::format("{}{:.{}f}{}{}", value < 0 ? "-" : "", size,
			   is_integer	  ? 0
			   : size < 9.995 ? 2
			   : size < 99.95 ? 1
					  : 0,
			   prefixes[i], binary && i ? "i" : "");
}

std::string per_second(double value, std::string_view unit, bool binary)
{
	std::string text =
		fmt::format("{}{}/s", short_number(value, binary), unit);

	if (std::isfinite(value))
		text.insert(text.find_first_not_of("-0123456789."), " ");
	return text;
}

std::string percent(double part)
{
	return fmt::format("{:.1f} %", 100 * part);
}

} // namespace cli
