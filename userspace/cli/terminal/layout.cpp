// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal/layout.hpp"

#include <algorithm>
#include <cwchar>
#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include "terminal/text.hpp"

namespace cli {

namespace {

/// A character of UTF-8, or an escape sequence that emphasizes.
struct glyph {
	size_t bytes, columns;
	bool escape;
};

/// Return the columns of a character.  wcwidth() depends on the locale, which may know only
/// ASCII, so call it with a UTF-8 locale.
int width_of(wchar_t c)
{
	static const locale_t utf8 =
		newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});

	if (!utf8)
		return 1;

	const locale_t previous_locale = uselocale(utf8);
	const int columns = wcwidth(c);

	uselocale(previous_locale);
	return columns;
}

glyph first_glyph(std::string_view text)
{
	if (text[0] == '\033') {
		const size_t end = text.find('m');

		return {end == text.npos ? text.size() : end + 1, 0, true};
	}

	const character c = first_character(text);

	if (c.length < 2)
		return {1, 1, false}; // ASCII, or not UTF-8
	return {c.length, size_t(std::max(0, width_of(wchar_t(c.code)))),
		false};
}

} // namespace

size_t width(std::string_view text)
{
	size_t columns = 0;

	while (!text.empty()) {
		const glyph first = first_glyph(text);

		columns += first.columns;
		text.remove_prefix(first.bytes);
	}
	return columns;
}

size_t columns_of(std::FILE *out)
{
	winsize size;

	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

/// Append a line cut to a number of columns.  The escape sequences of the cut
/// part stay, as they end an emphasis.
static void fit_line(std::string_view line, size_t columns, std::string &fitted)
{
	size_t room = columns;

	while (!line.empty()) {
		const glyph first = first_glyph(line);

		if (first.escape || first.columns <= room)
			fitted += line.substr(0, first.bytes);
		// After a character that does not fit, drop also narrower ones.
		room = first.columns <= room ? room - first.columns : 0;
		line.remove_prefix(first.bytes);
	}
}

std::string fit(std::string_view text, size_t columns)
{
	std::string fitted;

	if (!columns)
		return std::string(text);
	while (!text.empty()) {
		const size_t end = text.find('\n');

		fit_line(text.substr(0, end), columns, fitted);
		if (end == text.npos)
			break;
		fitted += '\n';
		text.remove_prefix(end + 1);
	}
	return fitted;
}

std::string fit_end(std::string_view text, size_t columns)
{
	constexpr std::string_view gap = "...";

	if (!columns || width(text) <= columns)
		return std::string(text);
	if (columns <= gap.size())
		return "";
	return fit(text, columns - gap.size()).append(gap);
}

std::string fit_middle(std::string_view text, size_t columns)
{
	constexpr std::string_view gap = "...";
	const size_t text_width = width(text);

	if (text_width <= columns || columns <= gap.size())
		return fit(text, columns);

	const size_t head = (columns - gap.size()) / 3;
	size_t skip = text_width - (columns - gap.size() - head);

	std::string shortened = fit(text, head) + std::string(gap);
	while (skip) {
		const glyph first = first_glyph(text);

		skip -= std::min(skip, size_t(first.columns));
		text.remove_prefix(first.bytes);
	}
	return shortened + std::string(text);
}

/// Take as much of @p text as fits the columns, a character at least.
static std::string_view take(std::string_view &text, size_t columns)
{
	size_t bytes = 0, used = 0;

	while (bytes < text.size()) {
		const glyph next = first_glyph(text.substr(bytes));

		if (bytes && used + next.columns > columns)
			break;
		used += next.columns;
		bytes += next.bytes;
	}

	const std::string_view part = text.substr(0, bytes);

	text.remove_prefix(bytes);
	return part;
}

std::vector<std::string> wrap(std::string head, std::string_view text,
			      size_t columns)
{
	const std::string indent(std::min(width(head), columns / 2), ' ');
	std::vector<std::string> lines;

	if (!columns)
		return {head.append(text)};
	for (std::string_view rest = head; width(rest) > columns;) {
		lines.emplace_back(take(rest, columns));
		head = std::string(rest);
		rest = head;
	}

	std::string line =
		head.find_first_not_of(' ') == head.npos ? indent : head;
	bool bare = true; // only spaces, or the head, in this line

	while (!text.empty()) {
		std::string_view word = text.substr(0, text.find(' '));

		text.remove_prefix(std::min(word.size() + 1, text.size()));
		if (width(line) + !bare + width(word) > columns &&
		    line != indent) {
			lines.push_back(std::exchange(line, indent));
			bare = true;
		}
		while (width(line) + width(word) > columns) {
			// A wide character may have no room beside the indent.
			if (!line.empty() &&
			    width(line) + first_glyph(word).columns > columns) {
				if (line.find_first_not_of(' ') != line.npos)
					lines.push_back(line);
				line.clear();
				continue;
			}
			line += take(word, columns - width(line));
			lines.push_back(std::exchange(line, indent));
		}
		line.append(bare ? 0 : 1, ' ').append(word);
		bare = bare && word.empty();
	}
	lines.push_back(line);
	for (std::string &wrapped : lines)
		wrapped.erase(wrapped.find_last_not_of(' ') + 1);
	return lines;
}

std::string wrap_lines(std::string_view text, size_t columns)
{
	std::string wrapped;

	if (!columns)
		return std::string(text);
	while (!text.empty()) {
		const std::string_view line = text.substr(0, text.find('\n'));

		if (width(line) <= columns)
			wrapped.append(line) += '\n';
		else
			for (const std::string &part : wrap("", line, columns))
				wrapped.append(part) += '\n';
		text.remove_prefix(std::min(line.size() + 1, text.size()));
	}
	return wrapped;
}

} // namespace cli
