// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Numbers, splitting, similar names.

#include "text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace uncore {

// Unlike <cctype>, these functions do not depend on the locale.
bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_control(char c)
{
	return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view trim(std::string_view text)
{
	while (!text.empty() && is_space(text.front()))
		text.remove_prefix(1);
	while (!text.empty() && is_space(text.back()))
		text.remove_suffix(1);
	return text;
}

std::pair<std::string_view, std::string_view> cut(std::string_view text,
						  char separator)
{
	const size_t position = text.find(separator);

	if (position == text.npos)
		return {text, {}};
	return {text.substr(0, position), text.substr(position + 1)};
}

std::vector<std::string_view> split(std::string_view text, char separator)
{
	std::vector<std::string_view> parts;

	for (;;) {
		const size_t position = text.find(separator);

		parts.push_back(text.substr(0, position));
		if (position == text.npos)
			return parts;
		text.remove_prefix(position + 1);
	}
}

static std::optional<uint64_t> parse_base(std::string_view text, int base)
{
	uint64_t value = 0;
	const char *end = text.data() + text.size();
	const auto [parsed_end, err] =
		std::from_chars(text.data(), end, value, base);

	if (err != std::errc() || parsed_end != end)
		return std::nullopt;
	return value;
}

std::optional<uint64_t> parse_number(std::string_view text)
{
	if (text.starts_with("0x") || text.starts_with("0X"))
		return parse_base(text.substr(2), 16);
	return parse_base(text, 10);
}

std::optional<uint64_t> parse_hex(std::string_view text)
{
	return parse_base(text, 16);
}

std::optional<double> parse_decimal(std::string_view text)
{
	double value = 0;
	const char *end = text.data() + text.size();
	const auto [parsed_end, err] = std::from_chars(text.data(), end, value);

	if (err != std::errc() || parsed_end != end || !std::isfinite(value))
		return std::nullopt;
	return value;
}

int compare_names(std::string_view a, std::string_view b)
{
	const size_t common = std::min(a.size(), b.size());

	for (size_t i = 0; i < common; i++) {
		const char x = lower(a[i]), y = lower(b[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return a.size() < b.size() ? -1 : a.size() > b.size();
}

bool same_name(std::string_view a, std::string_view b)
{
	return a.size() == b.size() && !compare_names(a, b);
}

bool match_pattern(std::string_view pattern, std::string_view name)
{
	size_t p = 0, n = 0;
	size_t star = pattern.npos, resume = 0;

	while (n < name.size()) {
		if (p < pattern.size() && pattern[p] == '*') {
			star = p++;
			resume = n;
		} else if (p < pattern.size() &&
			   (pattern[p] == '?' || pattern[p] == name[n])) {
			p++;
			n++;
		} else if (star != pattern.npos) {
			// the last * matches one more character
			p = star + 1;
			n = ++resume;
		} else {
			return false;
		}
	}
	while (p < pattern.size() && pattern[p] == '*')
		p++;
	return p == pattern.size();
}

/// Return the beginning of a text, with ? for control characters.
static std::string printable_prefix(std::string_view text, size_t most)
{
	std::string clean(text.substr(0, most));

	std::replace_if(clean.begin(), clean.end(), is_control, '?');
	return text.size() > most ? clean + "..." : clean;
}

std::string quote(std::string_view text)
{
	return '\'' + printable_prefix(text, 80) + '\'';
}

std::string one_line(std::string_view message)
{
	return printable_prefix(message, 1000);
}

std::string join(const std::vector<std::string_view> &names,
		 std::string_view between)
{
	std::string text;

	for (const std::string_view name : names) {
		if (!text.empty())
			text += between;
		text += name;
	}
	return text;
}

/// Count the insertions, deletions, replacements and swaps of neighbours from
/// @p a to @p b.
static unsigned distance(std::string_view a, std::string_view b)
{
	std::vector<unsigned> before(b.size() + 1), row(b.size() + 1),
		next(b.size() + 1);

	std::iota(row.begin(), row.end(), 0u);
	for (size_t i = 1; i <= a.size(); i++) {
		next[0] = static_cast<unsigned>(i);
		for (size_t j = 1; j <= b.size(); j++) {
			const bool same = lower(a[i - 1]) == lower(b[j - 1]);

			next[j] = std::min({row[j] + 1, next[j - 1] + 1,
					    row[j - 1] + !same});
			if (i > 1 && j > 1 &&
			    lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				next[j] = std::min(next[j], before[j - 2] + 1);
		}
		std::swap(before, row);
		std::swap(row, next);
	}
	return row[b.size()];
}

static size_t common_prefix(std::string_view a, std::string_view b)
{
	size_t length = 0;

	while (length < a.size() && length < b.size() &&
	       lower(a[length]) == lower(b[length]))
		length++;
	return length;
}

namespace {

struct candidate {
	unsigned far;
	size_t prefix;
	std::string_view name;

	bool operator<(const candidate &other) const
	{
		return far != other.far ? far < other.far
					: prefix > other.prefix;
	}
};

} // namespace

std::vector<std::string_view>
nearest_names(std::string_view wrong,
	      const std::vector<std::string_view> &names, unsigned most)
{
	// Two edits turn one or two letters into any other short name.
	constexpr size_t shortest = 3, longest = 64;
	std::vector<candidate> ranked;

	if (wrong.size() < shortest || wrong.size() > longest)
		return {};
	for (const std::string_view name : names) {
		if (name.size() > longest)
			continue;
		const size_t prefix = common_prefix(wrong, name);
		unsigned far = distance(wrong, name);

		// Names that begin with or contain the wrong name are near too.
		if (prefix == wrong.size())
			far = std::min(far, 2u);
		else if (name.find(wrong) != name.npos)
			far = std::min(far, 3u);
		if (far <= std::max<size_t>(2, wrong.size() / 3))
			ranked.push_back({far, prefix, name});
	}
	std::stable_sort(ranked.begin(), ranked.end());
	std::vector<std::string_view> nearest;
	for (const candidate &entry : ranked) {
		if (nearest.size() == most ||
		    entry.far > ranked.front().far + 2)
			break;
		if (std::find(nearest.begin(), nearest.end(), entry.name) ==
		    nearest.end())
			nearest.push_back(entry.name);
	}
	return nearest;
}

} // namespace uncore
