// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What this machine has: packages, their CPUs, and the uncore PMUs that a
/// driver has registered.  All of it comes from sysfs, so that any driver's PMUs
/// are found: those of xeon_uncore under any prefix, and the kernel's own
/// uncore_*.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>

namespace uncore {

/// A field of an event's configuration, from a PMU's format folder.
struct format_field {
	std::string name;
	/// 0, 1 or 2 for config, config1, config2
	unsigned word = 0;
	struct range {
		unsigned low, high; ///< bits, both inclusive, 0 to 63
	};
	/// In the order in which a value's bits, lowest first, go into them.
	std::vector<range> bits;

	/// The greatest value that fits.
	uint64_t max() const;
	/// @p value's bits at their place; bits beyond max() are dropped.
	uint64_t place(uint64_t value) const;
};

/// An uncore PMU: one box of every package.
struct pmu {
	std::string name;	    ///< "hswep_cbox_3"
	std::string prefix;	    ///< "hswep"
	std::string box;	    ///< "cbox"
	std::optional<unsigned> instance; ///< 3; none where there is one only
	uint32_t type = 0;	    ///< perf_event_attr.type
	std::vector<int> cpus;	    ///< its cpumask: one CPU for each package
	std::vector<format_field> formats;
	std::filesystem::path folder;

	const format_field *field(std::string_view name) const;
};

/// A socket.
struct package {
	int id = 0;	       ///< physical_package_id
	std::vector<int> cpus; ///< online, ascending
};

class topology {
public:
	/// Reads the machine; a driver that is not loaded is no error, pmus() is
	/// empty then.
	/// @param sysfs where sysfs is; tests give recorded trees.
	/// Errors: errc::system when there is no such tree.  Entries that make
	/// no sense are left out.
	static result<topology> read(const std::filesystem::path &sysfs = "/sys");

	std::span<const package> packages() const { return packages_; }
	/// Sorted by box and instance.
	std::span<const pmu> pmus() const { return pmus_; }

	/// The PMU of that full name, or nullptr.
	const pmu *find(std::string_view name) const;
	/// PMUs by full name ("hswep_cbox_3"), by name without instance
	/// ("hswep_cbox"), without prefix ("cbox", "cbox_3"), or by a pattern
	/// with * and ?.  Empty when none matches.
	std::vector<const pmu *> match(std::string_view pattern) const;
	/// The package of an online CPU, or -1.
	int package_of(int cpu) const;

private:
	std::vector<package> packages_;
	std::vector<pmu> pmus_;
};

} // namespace uncore
