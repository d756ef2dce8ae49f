// SPDX-License-Identifier: GPL-2.0-or-later
#include "places/places.hpp"

#include <algorithm>
#include <string_view>

#include "catalogue_tables.hpp"
#include "sysfs.hpp"
#include "text.hpp"

namespace cli {

namespace {

namespace fs = std::filesystem;

/// Root ports of a stack are four consecutive devices of its bus, function 0.
constexpr unsigned ports_per_stack = 4;

/// The text of a PMU's file dieN.
struct place_file {
	const uncore::pmu_info *pmu;
	unsigned die;
	std::string text;
};

/// Parse "die12": the number.
std::optional<unsigned> die_of(std::string_view name)
{
	constexpr std::string_view die = "die";

	if (!name.starts_with(die))
		return std::nullopt;

	const auto number = uncore::parse_number(name.substr(die.size()));

	if (!number || *number > UINT16_MAX)
		return std::nullopt;
	return static_cast<unsigned>(*number);
}

std::vector<place_file> read_files(const uncore::topology &machine)
{
	std::vector<place_file> files;

	for (const auto &pmu : machine.pmus()) {
		const size_t first = files.size();

		for (const std::string &name : uncore::list_folder(pmu.folder)) {
			const auto die = die_of(name);
			auto text = uncore::read_text(pmu.folder / name);

			if (die && text)
				files.push_back({&pmu, *die, *std::move(text)});
		}
		std::sort(files.begin() + static_cast<ptrdiff_t>(first), files.end(),
			  [](const auto &a, const auto &b) { return a.die < b.die; });
	}
	return files;
}

/// Sockets by the die number in the files' names.  The kernel numbers the dies of a machine
/// without gaps.  physical_package_id can have gaps; sockets and dies then have the same
/// order.
class die_sockets {
public:
	die_sockets(const uncore::topology &machine, unsigned dies)
		: packages_(machine.packages()),
		  gaps_(!packages_.empty() && packages_.back().id >= static_cast<int>(dies))
	{
	}
	std::optional<int> find(unsigned die) const
	{
		if (gaps_ && die < packages_.size())
			return packages_[die].id;
		for (const auto &package : packages_)
			if (!gaps_ && package.id == static_cast<int>(die))
				return package.id;
		return std::nullopt;
	}

private:
	std::span<const uncore::package> packages_;
	bool gaps_;
};

/// @param first device number of part 0
std::vector<root_port> ports_of(const fs::path &bus, unsigned first)
{
	std::vector<root_port> ports;

	const auto add = [&ports, first](const pci_device &device) {
		if (device.bridge && device.function() == 0 && device.slot() >= first &&
		    device.slot() - first < ports_per_stack)
			ports.push_back({device.slot() - first, device});
	};

	for (const pci_device &device : pci_devices(bus)) {
		add(device);
		if (!device.bridge)
			std::for_each(device.behind.begin(), device.behind.end(), add);
	}
	std::stable_sort(ports.begin(), ports.end(), [](const auto &a, const auto &b) {
		return a.part < b.part;
	});
	return ports;
}

/// Parse "upi_1,die_0": the number of the link and of the die at the other end.
std::optional<std::pair<unsigned, unsigned>> end_of(std::string_view text)
{
	const auto [link, die] = uncore::cut(text, ',');
	const auto numbered = [](std::string_view name) {
		return uncore::parse_number(name.substr(name.rfind('_') + 1));
	};
	const auto link_number = numbered(link), die_number = numbered(die);

	if (!link_number || !die_number || *link_number > UINT16_MAX ||
	    *die_number > UINT16_MAX)
		return std::nullopt;
	return std::pair(static_cast<unsigned>(*link_number),
			 static_cast<unsigned>(*die_number));
}

const uncore::pmu_info *neighbour(const uncore::topology &machine,
				  const uncore::pmu_info &pmu, unsigned instance)
{
	for (const auto &other : machine.pmus())
		if (other.box == pmu.box && other.prefix == pmu.prefix &&
		    other.instance == instance)
			return &other;
	return nullptr;
}

} // namespace

places read_places(const uncore::topology &machine, const fs::path &sysfs)
{
	const auto files = read_files(machine);
	unsigned dies = 0;
	places found;

	for (const place_file &file : files)
		dies = std::max(dies, file.die + 1);

	const die_sockets sockets(machine, dies);
	const auto &tables = uncore::catalogue_tables::of(machine);

	for (const place_file &file : files) {
		if (const auto end = end_of(file.text))
			found.links.push_back(
				{.pmu = file.pmu,
				 .socket = sockets.find(file.die),
				 .end = neighbour(machine, *file.pmu, end->first),
				 .end_socket = sockets.find(end->second)});
		else if (is_root_bus("pci" + file.text) && file.text.find('/') == file.text.npos) {
			const auto *role = tables.role_of(file.pmu->box);

			found.stacks.push_back(
				{.pmu = file.pmu,
				 .socket = sockets.find(file.die),
				 .bus = file.text,
				 .ports = ports_of(sysfs / "devices" / ("pci" + file.text),
						   role ? role->first_port : 0)});
		}
	}
	return found;
}

} // namespace cli
