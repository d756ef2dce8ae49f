// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/cpuinfo.hpp"

#include <fstream>

namespace cli {

std::optional<std::string> cpuinfo_field(const std::filesystem::path &proc,
					 std::string_view field)
{
	std::ifstream in(proc / "cpuinfo");
	std::string line;

	// "model\t\t: 63", "model name\t: Intel(R) Xeon(R) CPU"
	while (std::getline(in, line) && !line.empty()) {
		const size_t colon = line.find(": ");

		if (colon != line.npos &&
		    std::string_view(line).substr(
			    0, line.find_last_not_of(" \t", colon - 1) + 1) == field)
			return line.substr(colon + 2);
	}
	return std::nullopt;
}

} // namespace cli
