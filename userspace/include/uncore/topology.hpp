// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What this machine has: packages, their CPUs, and the uncore PMUs that a
/// driver has registered.  All of it comes from sysfs, so that any driver's
/// PMUs are found: those of xeon_uncore under any prefix, and the kernel's own
/// uncore_*.
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
	/// In the order in which a value's bits, lowest first, go into them.
	std::vector<range> bits;

	/// The greatest value that fits.
	uint64_t max() const;
	/// @p value's bits at their place; bits beyond max() are dropped.
	uint64_t place(uint64_t value) const;
};

/// Whose PMU it is.
enum class pmu_driver {
	xeon_uncore,  ///< this project's, under any prefix
	intel_uncore, ///< the kernel's own
	other,	      ///< neither, such as the core's
};

/// A PMU; an uncore PMU is one box of every package.
struct UNCORE_EXPORT pmu_info {
	std::string name; ///< "hswep_cbox_3"
	pmu_driver driver = pmu_driver::other;
	std::string prefix; ///< "hswep"; empty with pmu_driver::other
	std::string box;    ///< "cbox"
	std::optional<unsigned> instance; ///< 3; none where there is one only
	uint32_t type = 0;		  ///< perf_event_attr.type
	/// Its cpumask: one CPU for each package; empty for a PMU of every CPU.
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

/// A machine as it was when it was read.  Copies share one description, which
/// never changes: what points into it (event::pmu, counted_value::pmu()) is
/// good as long as there is one of them, and counter sets and samplers each
/// keep one.  Safe to use in any number of threads.
class UNCORE_EXPORT topology {
public:
	topology(const topology &) = default;
	topology &operator=(const topology &) = default;

	/// Reads the machine; pmus() is empty when no driver is loaded.
	/// @param sysfs where sysfs is; tests give recorded trees.
	/// Errors: errc::system when the tree does not exist.  Entries that
	/// make no sense are left out.
	static result<topology>
	read(const std::filesystem::path &sysfs = "/sys");
	/// A machine of that generation of which nothing else is known: no
	/// packages, no PMUs.
	static topology blank(std::string_view generation);

	std::span<const package> packages() const;
	/// The uncore PMUs, sorted by box and instance.
	std::span<const pmu_info> pmus() const;
	/// All others: "cpu", "msr", "power", ...
	std::span<const pmu_info> others() const;
	/// The processor's generation, as the catalogue calls it ("hswep");
	/// empty where the library has none for it.
	std::string_view generation() const;

	/// The PMU of that full name, uncore or not, or nullptr.
	const pmu_info *find(std::string_view name) const;
	/// Uncore PMUs by full name ("hswep_cbox_3"), by name without instance
	/// ("hswep_cbox"), without prefix ("cbox", "cbox_3"), or by a pattern
	/// with * and ?.  Empty when none matches.
	std::vector<const pmu_info *> match(std::string_view pattern) const;
	/// Online CPUs of all packages, ascending.
	std::vector<int> cpus() const;
	/// The package of an online CPU, or -1.
	int package_of(int cpu) const;

private:
	struct UNCORE_HIDDEN description;

	explicit UNCORE_HIDDEN
	topology(std::shared_ptr<const description> known);
	std::shared_ptr<const description> known_;
};

} // namespace uncore
