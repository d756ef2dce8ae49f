// SPDX-License-Identifier: GPL-2.0-or-later
// Names of PCI devices, from libpci's list (pci.ids).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "places/pci_tree.hpp"

struct pci_access;

namespace cli {

class pci_names {
public:
	pci_names();
	/// Return the vendor's and the device's name; nothing if the list does not have
	/// the device, or if there is no list.
	std::optional<std::string> find(const pci_device &device);

private:
	struct cleanup {
		void operator()(pci_access *list) const;
	};

	std::unique_ptr<pci_access, cleanup> list_;
};

} // namespace cli
