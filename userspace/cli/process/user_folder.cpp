// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/user_folder.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace cli {

std::string user_folder(const char *variable, const char *below_home)
{
	const char *named = std::getenv(variable);
	const char *home = std::getenv("HOME");

	if (named && named[0] == '/')
		return fmt::format("{}/uncore", named);
	return home && *home ? fmt::format("{}/{}/uncore", home, below_home) : "";
}

} // namespace cli
