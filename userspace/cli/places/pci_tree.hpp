// SPDX-License-Identifier: GPL-2.0-or-later
// PCI devices in sysfs, each with the devices behind the device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// A PCI device.
struct pci_device {
	std::string address; ///< "0000:17:00.0"
	uint16_t vendor = 0, device = 0;
	bool bridge = false; ///< a root port, or a port of a switch
	/// Of a bridge: the devices behind it.  Of a volume management device, which is
	/// not a bridge: the root ports that it hides from the bus.
	std::vector<pci_device> behind = {};

	/// Return vendor and device: "8086:1583".
	std::string id() const;
	/// Return the device's number on its bus, 0 to 31, and its function.
	unsigned slot() const;
	unsigned function() const;
};

/// List the devices in a folder of sysfs, sorted by address.
/// @param folder of a root bus or of a device: /sys/devices/pci0000:16.
std::vector<pci_device> pci_devices(const std::filesystem::path &folder);

/// Tell whether a folder of /sys/devices is a root bus, such as "pci0000:00".
bool is_root_bus(std::string_view name);

/// Tell whether the device of a folder is a PCI-to-PCI bridge: below a root bus, a root
/// port.
bool is_bridge(const std::filesystem::path &device);

} // namespace cli
