// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal/colour.hpp"

#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

namespace cli {

bool colour(std::FILE *out)
{
	const char *term = std::getenv("TERM");
	const char *no_color = std::getenv("NO_COLOR");

	return isatty(fileno(out)) && !(no_color && *no_color) && term &&
	       std::string_view(term) != "dumb";
}

static std::string emphasized(std::FILE *out, const char *code,
			      std::string_view text)
{
	if (text.empty() || !colour(out))
		return std::string(text);
	return fmt::format("\033[{}m{}\033[0m", code, text);
}

std::string bold(std::FILE *out, std::string_view text)
{
	return emphasized(out, "1", text);
}

std::string dim(std::FILE *out, std::string_view text)
{
	return emphasized(out, "2", text);
}

std::string red(std::FILE *out, std::string_view text)
{
	return emphasized(out, "31", text);
}

std::string yellow(std::FILE *out, std::string_view text)
{
	return emphasized(out, "33", text);
}

std::string green(std::FILE *out, std::string_view text)
{
	return emphasized(out, "32", text);
}

} // namespace cli
