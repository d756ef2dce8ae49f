// SPDX-License-Identifier: GPL-2.0-or-later
// The files of the die map's page (userspace/cli/web), which the build puts
// into the program.
#pragma once

#include <span>
#include <string_view>

namespace cli {

struct web_file {
	std::string_view path; ///< as it is asked for: "/die-map.js"
	std::string_view type, content;
};

std::span<const web_file> web_files();

} // namespace cli
