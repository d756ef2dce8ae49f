// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/machine.hpp"

#include <fstream>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cli {

std::optional<std::string> cpuinfo_field(const std::filesystem::path &proc,
					 std::string_view field)
{
	std::ifstream cpuinfo(proc / "cpuinfo");
	std::string line;

	// "model\t\t: 63", "model name\t: Intel(R) Xeon(R) CPU"
	while (std::getline(cpuinfo, line) && !line.empty()) {
		const size_t colon = line.find(": ");

		if (colon != line.npos &&
		    std::string_view(line).substr(
			    0, line.find_last_not_of(" \t", colon - 1) + 1) ==
			    field)
			return line.substr(colon + 2);
	}
	return std::nullopt;
}

std::string host_name()
{
	char name[256] = "";

	gethostname(name, sizeof(name) - 1);
	return name;
}

std::string cpu_list(std::span<const int> cpus)
{
	std::string text;

	for (size_t i = 0; i < cpus.size();) {
		size_t last = i;

		while (last + 1 < cpus.size() &&
		       cpus[last + 1] == cpus[last] + 1)
			last++;
		text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
		if (last > i)
			text += fmt::format("-{}", cpus[last]);
		i = last + 1;
	}
	return text;
}

const char *driver_name(uncore::pmu_driver driver)
{
	switch (driver) {
	case uncore::pmu_driver::xeon_uncore:
		return "xeon_uncore";
	case uncore::pmu_driver::intel_uncore:
		return "intel_uncore";
	default:
		return "";
	}
}

nlohmann::ordered_json driver_name(const uncore::topology &machine)
{
	if (machine.pmus().empty())
		return nullptr;
	return driver_name(machine.pmus().front().driver);
}

} // namespace cli
