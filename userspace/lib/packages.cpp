// SPDX-License-Identifier: LGPL-2.1-or-later
#include "packages.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sysfs.hpp"
#include "text.hpp"

namespace uncore {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t most_packages = 4096;

/// Online CPUs by physical_package_id and die_id.
using cpus_by_die = std::map<std::pair<int, int>, std::vector<int>>;

/// Parse the number in the name of a CPU's folder, such as "cpu12".
std::optional<int> cpu_of(std::string_view folder)
{
	if (!folder.starts_with("cpu"))
		return std::nullopt;
	const auto cpus = parse_cpu_list(folder.substr(3));

	return cpus && cpus->size() == 1 ? std::optional(cpus->front())
					 : std::nullopt;
}

std::optional<int> read_id(const fs::path &file)
{
	const auto text = read_text(file);
	const auto id = text ? parse_number(*text) : std::nullopt;

	return id && *id < most_packages ? std::optional(static_cast<int>(*id))
					 : std::nullopt;
}

/// Read the ids of all CPUs; an offline CPU has no topology folder.
cpus_by_die read_dies(const fs::path &sysfs)
{
	const fs::path folder = sysfs / "devices/system/cpu";
	cpus_by_die dies;

	for (const std::string &name : list_folder(folder)) {
		const fs::path place = folder / name / "topology";
		const auto cpu = cpu_of(name);
		const auto id = cpu ? read_id(place / "physical_package_id")
				    : std::nullopt;

		if (id)
			dies[{*id, read_id(place / "die_id").value_or(0)}]
				.push_back(*cpu);
	}
	return dies;
}

int count_dies_per_package(const cpus_by_die &dies)
{
	std::map<int, int> of_package;
	int most = 1;

	for (const auto &[place, cpus] : dies)
		most = std::max(most, ++of_package[place.first]);
	return most;
}

} // namespace

std::vector<package> read_packages(const fs::path &sysfs)
{
	const cpus_by_die dies = read_dies(sysfs);
	const int per_package = count_dies_per_package(dies);
	std::map<int, std::vector<int>> cpus;

	// The driver's number of a die is the kernel's in the machine, which
	// sysfs does not have.  die_id begins with 0 in each package before
	// Linux 6.9, and in the first package since then.
	for (const auto &[place, list] : dies) {
		auto &all = cpus[place.first * per_package +
				 place.second % per_package];

		all.insert(all.end(), list.begin(), list.end());
	}
	std::vector<package> packages;
	for (auto &[id, list] : cpus) {
		std::sort(list.begin(), list.end());
		list.erase(std::unique(list.begin(), list.end()), list.end());
		packages.push_back({id, std::move(list)});
	}
	return packages;
}

const package *find_package(std::span<const package> packages, int cpu)
{
	for (const package &candidate : packages)
		if (std::binary_search(candidate.cpus.begin(),
				       candidate.cpus.end(), cpu))
			return &candidate;
	return nullptr;
}

} // namespace uncore
