// SPDX-License-Identifier: GPL-2.0-or-later
#include "places/pci_names.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "process/exit_status.hpp"

extern "C" {
#include <pci/pci.h>
}

namespace cli {

namespace {

/// Called by libpci, which cannot go on: a malformed list, for example.
[[noreturn]] void refuse(char *format, ...)
{
	va_list values;

	va_start(values, format);
	std::fputs("uncore: libpci: ", stderr);
	std::vfprintf(stderr, format, values);
	std::fputc('\n', stderr);
	va_end(values);
	std::exit(failure);
}

void ignore(char *, ...) {}

} // namespace

pci_names::pci_names() : list_(pci_alloc())
{
	// pci_init() would set them, and would look for devices.
	list_->error = refuse;
	list_->warning = ignore;
	list_->debug = ignore;
	// The file alone: the library could also ask the network.
	list_->id_lookup_mode = 0;
}

void pci_names::cleanup::operator()(pci_access *list) const
{
	pci_cleanup(list);
}

std::optional<std::string> pci_names::find(const pci_device &device)
{
	std::array<char, 512> name;
	const char *found = pci_lookup_name(
		list_.get(), name.data(), static_cast<int>(name.size()),
		PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE | PCI_LOOKUP_NO_NUMBERS,
		int{device.vendor}, int{device.device});

	if (!found)
		return std::nullopt;
	return found;
}

} // namespace cli
