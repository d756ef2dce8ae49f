// SPDX-License-Identifier: GPL-2.0-or-later
// Checks text that other programs have chosen before it is printed.
#include "terminal/text.hpp"

namespace cli {

character first_character(std::string_view text)
{
	static constexpr uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char lead = text[0];
	size_t length = lead < 0x80   ? 1
			: lead < 0xc0 ? 0
			: lead < 0xe0 ? 2
			: lead < 0xf0 ? 3
			: lead < 0xf8 ? 4
				      : 0;
	uint32_t code = length < 2 ? lead : lead & (0x7f >> length);

	if (!length || length > text.size())
		return {};
	for (size_t i = 1; i < length; i++) {
		unsigned char next = text[i];

		if ((next & 0xc0) != 0x80)
			return {};
		code = code << 6 | (next & 0x3f);
	}
	if (code < smallest[length] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return {};
	return {code, length};
}

static bool is_printable(uint32_t code)
{
	// Controls, C0 and C1.
	if (code < ' ' || (code >= 0x7f && code < 0xa0))
		return false;
	// Separators of lines, and characters that change the direction of
	// writing.
	if ((code >= 0x2028 && code <= 0x202e) ||
	    (code >= 0x2066 && code <= 0x2069))
		return false;
	// Noncharacters, which XML refuses.
	return (code & 0xfffe) != 0xfffe;
}

std::string printable(std::string_view text)
{
	std::string clean;

	clean.reserve(text.size());
	while (!text.empty()) {
		character c = first_character(text);
		size_t bytes = c.length ? c.length : 1;

		if (c.length && is_printable(c.code))
			clean += text.substr(0, bytes);
		else
			clean += '?';
		text.remove_prefix(bytes);
	}
	return clean;
}

std::string lower(std::string_view text)
{
	std::string lowered(text);

	for (char &c : lowered)
		if (c >= 'A' && c <= 'Z')
			c = static_cast<char>(c - 'A' + 'a');
	return lowered;
}

} // namespace cli
