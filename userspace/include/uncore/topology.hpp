// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The packages of this machine, their CPUs, and the uncore PMUs that a driver
/// has registered, as read from sysfs.  The PMUs of any driver are found:
/// xeon_uncore's under any prefix, and uncore_* of the in-tree driver.
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
	/// Ranges of bits in the word: the lowest bits of a value are stored in
	/// the first range.
	std::vector<range> bits;

	/// The greatest value that fits into the field.
	uint64_t max() const;
	/// Move the bits of @p value to the bits of the field in the word; drop
	/// the bits beyond max().
	uint64_t place(uint64_t value) const;
};

/// The driver that has registered a PMU.
enum class pmu_driver {
	xeon_uncore,  ///< this project's driver, under any prefix
	intel_uncore, ///< the in-tree driver
	other,	      ///< any other driver, such as that of the core's PMU
};

/// A PMU.  An uncore PMU stands for the same box in every package.
struct UNCORE_EXPORT pmu_info {
	std::string name; ///< "hswep_cbox_3"
	pmu_driver driver = pmu_driver::other;
	std::string prefix; ///< "hswep"; empty with pmu_driver::other
	std::string box;    ///< "cbox"
	std::optional<unsigned> instance; ///< 3; none for a single box
	uint32_t type = 0;		  ///< perf_event_attr.type
	/// CPUs in the cpumask, one for each package; empty for a PMU that
	/// counts on every CPU.
	std::vector<int> cpus;
	std::vector<format_field> formats;
	std::filesystem::path folder;

	const format_field *field(std::string_view name) const;
};

/// A socket.
struct package {
	int id = 0;	       ///< physical_package_id
	std::vector<int> cpus; ///< online, ascending
};

/// The description of a machine at the time of read().  Copies share one
/// description, which never changes.  Pointers into it (event::pmu,
/// counted_value::pmu()) are valid as long as a copy exists; each counter set and
/// sampler keeps a copy.  Safe to use in any number of threads.
class UNCORE_EXPORT topology {
public:
	topology(const topology &) = default;
	topology &operator=(const topology &) = default;

	/// Read the machine's description; pmus() is empty if no driver is
	/// loaded.  Malformed entries are left out.
	/// @param sysfs folder of sysfs; tests use recorded trees.
	/// Errors: errc::system if the folder does not exist.
	static result<topology>
	read(const std::filesystem::path &sysfs = "/sys");
	/// A machine of a generation without packages and PMUs.
	static topology blank(std::string_view generation);

	std::span<const package> packages() const;
	/// The uncore PMUs, sorted by box and instance.
	std::span<const pmu_info> pmus() const;
	/// All PMUs that are not uncore PMUs: "cpu", "msr", "power", ...
	std::span<const pmu_info> others() const;
	/// The catalogue's name of the processor's generation ("hswep"); empty
	/// if the library has no catalogue for the processor.
	std::string_view generation() const;

	/// Find a PMU, uncore or not, by its full name; nullptr if there is no
	/// such PMU.
	const pmu_info *find(std::string_view name) const;
	/// Find uncore PMUs by full name ("hswep_cbox_3"), by name without
	/// instance ("hswep_cbox"), by name without prefix ("cbox", "cbox_3"),
	/// or by a pattern with * and ?.  Empty if no PMU matches.
	std::vector<const pmu_info *> match(std::string_view pattern) const;
	/// Online CPUs of all packages, ascending.
	std::vector<int> cpus() const;
	/// The physical_package_id of an online CPU; -1 for any other number.
	int package_of(int cpu) const;

private:
	struct UNCORE_HIDDEN description;

	explicit UNCORE_HIDDEN
	topology(std::shared_ptr<const description> known);
	std::shared_ptr<const description> known_;
};

} // namespace uncore
