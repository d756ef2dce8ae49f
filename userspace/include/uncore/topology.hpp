// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Topology of a machine: packages, their CPUs, and the PMUs (performance
/// monitoring units) that drivers have registered.  All of it is read from
/// sysfs, so the PMUs of any driver are found: those of xeon_uncore under any
/// prefix, and those of the kernel's own driver, uncore_*.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/export.hpp>

namespace uncore {

/// A field of an event's configuration, from a PMU's format folder.
struct UNCORE_EXPORT format_field {
	std::string name;
	/// 0, 1 or 2 for config, config1, config2
	unsigned word = 0;
	struct range {
		unsigned low, high; ///< bits, both inclusive, 0 to 63
	};
	/// Bits of the word that the field has.  The lowest bits of a value go
	/// into the first range.
	std::vector<range> bits;

	/// Return the largest value of the field.
	uint64_t max() const;
	/// Return the word with @p value in the bits of the field; bits of the
	/// value beyond max() are dropped.
	uint64_t place(uint64_t value) const;
};

/// Driver that registered a PMU.
enum class pmu_driver {
	xeon_uncore,  ///< this project's driver, under any prefix
	intel_uncore, ///< the kernel's own uncore driver
	other, ///< not an uncore driver: the PMU of the cores, for example
};

/// A PMU.  An uncore PMU stands for the boxes with the same number in all
/// packages: hswep_cbox_3 for CBo 3 of each package.
struct UNCORE_EXPORT pmu_info {
	std::string name; ///< "hswep_cbox_3"
	pmu_driver driver = pmu_driver::other;
	std::string prefix; ///< "hswep"; empty with pmu_driver::other
	std::string box;    ///< "cbox"
	/// Number of the box, 3; none if a package has one box of this type.
	std::optional<unsigned> instance;
	uint32_t type = 0; ///< perf_event_attr.type
	/// CPUs in the PMU's cpumask, one CPU for each package; empty for a PMU
	/// that counts on every CPU.
	std::vector<int> cpus;
	std::vector<format_field> formats; ///< files of the format folder
	std::filesystem::path folder; ///< /sys/bus/event_source/devices/NAME

	/// Find a format field; nullptr if the PMU does not have it.
	const format_field *field(std::string_view name) const;
};

/// A socket.  If sockets have several dies (Cascade Lake-AP), each die is a package: it has
/// its own boxes.
struct package {
	/// physical_package_id, or with several dies the kernel's number of the die in the
	/// machine, as in the driver's messages: with two dies a socket, socket 1 has the
	/// packages 2 and 3.
	int id = 0;
	std::vector<int> cpus; ///< online, ascending
};

/// A machine at the time of read().  Copies of a topology share one
/// description, which never changes.  Pointers into the description
/// (event::pmu, counted_value::pmu()) are valid as long as a copy exists; each
/// counter set and each sampler keeps a copy.  Threads may use a topology at
/// the same time.
class UNCORE_EXPORT topology {
public:
	topology(const topology &) = default;
	topology &operator=(const topology &) = default;

	/// Read the machine.  Without an uncore driver, pmus() is empty.
	/// Malformed entries of sysfs are left out.
	/// @param sysfs path of sysfs; tests give the path of a recorded tree.
	/// Errors: errc::system if the path does not exist.
	static result<topology>
	read(const std::filesystem::path &sysfs = "/sys");
	/// Make a topology of a generation ("hswep") without packages and PMUs.
	static topology blank(std::string_view generation);

	std::span<const package> packages() const;
	/// The uncore PMUs, sorted by box and instance.
	std::span<const pmu_info> pmus() const;
	/// All other PMUs: "cpu", "msr", "power", ...
	std::span<const pmu_info> others() const;
	/// The processor's generation by its name in the catalogue ("hswep");
	/// empty if the library has no catalogue for the processor.
	std::string_view generation() const;

	/// Find a PMU, of the uncore or any other, by its full name; nullptr if
	/// the machine has no such PMU.
	const pmu_info *find(std::string_view name) const;
	/// Find uncore PMUs by full name ("hswep_cbox_3"), by name without
	/// instance ("hswep_cbox"), without prefix ("cbox", "cbox_3"), or by a
	/// pattern with * and ?.  Empty if no PMU matches.
	std::vector<const pmu_info *> match(std::string_view pattern) const;
	/// Online CPUs of all packages, ascending.
	std::vector<int> cpus() const;
	/// The package::id of an online CPU's package; -1 for any other number.
	int package_of(int cpu) const;

private:
	struct UNCORE_HIDDEN description;

	explicit UNCORE_HIDDEN
	topology(std::shared_ptr<const description> known);
	std::shared_ptr<const description> known_;
};

} // namespace uncore
