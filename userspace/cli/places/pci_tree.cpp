// SPDX-License-Identifier: GPL-2.0-or-later
#include "places/pci_tree.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "sysfs.hpp"
#include "text.hpp"

namespace cli {

namespace {

namespace fs = std::filesystem;

/// Levels of bridges that are read, so that a made-up tree cannot have an endless one.
constexpr unsigned most_levels = 32;

/// Tell whether a folder is a device, "0000:17:00.0", and not one of its services,
/// "0000:17:00.0:pcie001".
bool is_address(std::string_view name)
{
	constexpr std::string_view end = "17:00.0";
	const size_t domain = name.find(':');

	return domain != name.npos && domain >= 4 &&
	       name.size() == domain + 1 + end.size() &&
	       uncore::parse_hex(name.substr(0, domain)) &&
	       uncore::parse_hex(name.substr(domain + 1, 2)) &&
	       name[domain + 3] == ':' && uncore::parse_hex(name.substr(domain + 4, 2)) &&
	       name[domain + 6] == '.' && uncore::is_digit(name.back());
}

uint16_t read_id(const fs::path &file)
{
	const auto text = uncore::read_text(file);
	const auto id = text ? uncore::parse_number(*text) : std::nullopt;

	return id && *id <= UINT16_MAX ? static_cast<uint16_t>(*id) : 0;
}

std::vector<pci_device> read_devices(const fs::path &folder, unsigned levels)
{
	std::vector<pci_device> devices;

	if (!levels)
		return devices;
	for (const std::string &name : uncore::list_folder(folder)) {
		const fs::path inner = folder / name;

		if (is_address(name)) {
			devices.push_back({.address = name,
					   .vendor = read_id(inner / "vendor"),
					   .device = read_id(inner / "device"),
					   .bridge = is_bridge(inner),
					   .behind = read_devices(inner, levels - 1)});
		} else if (is_root_bus(name)) {
			// The bus that a volume management device has made.
			auto hidden = read_devices(inner, levels - 1);

			std::move(hidden.begin(), hidden.end(),
				  std::back_inserter(devices));
		}
	}
	return devices;
}

} // namespace

std::string pci_device::id() const
{
	return fmt::format("{:04x}:{:04x}", vendor, device);
}

unsigned pci_device::slot() const
{
	return static_cast<unsigned>(
		uncore::parse_hex(std::string_view(address).substr(address.size() - 4, 2))
			.value_or(0));
}

unsigned pci_device::function() const
{
	return static_cast<unsigned>(address.back() - '0');
}

std::vector<pci_device> pci_devices(const fs::path &folder)
{
	return read_devices(folder, most_levels);
}

bool is_root_bus(std::string_view name)
{
	return name.starts_with("pci") && name.find(':') != name.npos;
}

bool is_bridge(const fs::path &device)
{
	constexpr std::string_view bridge = "0x0604";

	return uncore::read_text(device / "class").value_or("").starts_with(bridge);
}

} // namespace cli
