// SPDX-License-Identifier: GPL-2.0-or-later
// Files of the die map's page (userspace/cli/web), built into the program.
#pragma once

#include <span>
#include <string_view>

namespace cli {

struct web_file {
	std::string_view path; ///< path of a request: "/die-map.js"
	std::string_view type, content;
};

std::span<const web_file> web_files();

} // namespace cli
