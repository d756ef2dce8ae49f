// SPDX-License-Identifier: GPL-2.0-or-later
// Places of boxes: the PCIe root ports of an IIO stack, and the other end of a UPI link.
// The driver writes places into files dieN of the box's PMU, as intel_uncore does.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <uncore/topology.hpp>

#include "places/pci_tree.hpp"

namespace cli {

/// A root port of a stack.  Events of part N count the traffic of the port, which is device
/// N after the stack's first; bit N of their port mask selects the port.
struct root_port {
	unsigned part = 0; ///< 0 to 3
	pci_device device;
};

/// An IIO stack of a socket.
struct io_stack {
	const uncore::pmu_info *pmu = nullptr;
	/// package::id; nothing for a socket without online CPUs.
	std::optional<int> socket;
	std::string bus; ///< root bus, "0000:16"
	std::vector<root_port> ports;
};

/// A UPI link of a socket, and the other end of the link.
struct socket_link {
	const uncore::pmu_info *pmu = nullptr;
	std::optional<int> socket;
	const uncore::pmu_info *end = nullptr; ///< nullptr if the end has no PMU
	std::optional<int> end_socket;
};

struct places {
	std::vector<io_stack> stacks; ///< by PMU and socket
	std::vector<socket_link> links;
};

/// Read the places of a machine's boxes.  Empty if the driver writes none.
/// @param sysfs path of sysfs
places read_places(const uncore::topology &machine, const std::filesystem::path &sysfs);

} // namespace cli
