// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Tables that "events/generate.py --cpp" writes for each generation: the
/// public catalogue, the roles of box types and the faults of intel_uncore; and
/// the metric groups and presets of all generations.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/catalogue.hpp>

namespace uncore {

/// Filters of a box under intel_uncore: bits of config1 and config2 that the
/// driver passes on to the hardware, for events with config & mask == select.
/// The driver ignores all other bits of config1 and config2.
struct in_tree_filter {
	std::string_view box;
	uint64_t instances; ///< bit n for box n; 0 for all boxes
	uint64_t mask, select;
	uint64_t config1, config2;
};

/// Events that intel_uncore counts wrongly: those with config & mask == select.
struct in_tree_fault {
	std::string_view box;
	uint64_t mask, select;
	std::string_view reason;
	std::string_view section;
};

/// Filter field that all events of a box share, as it is a register of the box.
/// Events with config & mask == select obey the field: the hardware counts only
/// what matches.  Such events can count at the same time only with equal values
/// of the field.  Zero is a value like any other: it must not be replaced by
/// the value that another event needs.
struct shared_field {
	std::string_view box, name;
	uint64_t mask, select;
	/// Bits of the field in config, config1 and config2.
	std::array<uint64_t, 3> bits;
	/// Bits of all fields that the same rule is about.  If they are all 0
	/// in an event, the field's value is @c neutral.
	std::array<uint64_t, 3> rule, neutral;
};

/// A name of an uncore event in perf's own event files (unc_m_cas_count.rd),
/// and the event string of the catalogue.
struct perf_name {
	std::string_view name; ///< in lower case
	std::string_view event;
};

/// Meaning of a box type for users.  Programs ask for a role and a part, not for
/// the name of a box type, which differs between generations.
struct box_role {
	std::string_view box;
	/// "cache", "memory", "link", "io", "power", or empty.
	std::string_view role;
	/// Part of the role that a box is: "slice", "channel"; or empty.
	std::string_view part;
	/// Of an IO stack: PCI device number of the root port of part 0.
	uint8_t first_port;
};

/// Name of a box type in other tools, in lower case.
struct foreign_box {
	enum tool {
		perf,	///< of its event names: "m" of unc_m_cas_count
		likwid, ///< of its counters: "mbox" of MBOX0C1
		other,	///< of libpfm4 and ucevent
	} used_by;
	std::string_view name, box;
};

/// A processor that xeon_uncore supports.
struct processor {
	std::string_view modalias; ///< part of the kernel's modalias
	std::string_view generation;
	uint16_t steppings; ///< of the processor's model, a bit each

	static constexpr uint16_t every_stepping = 0xffff;

	static const std::span<const processor> all;
	/// Choose from the processors of one model, whose steppings differ.
	/// @param pmus names of PMUs: the driver's begin with the generation.
	/// @return the generation, or an empty text if there is none.
	static std::string_view choose(std::span<const processor> model,
				       std::span<const std::string> pmus,
				       std::optional<uint64_t> stepping);
};

/// A metric that is listed first in a metric_group.
struct leading_metric {
	std::string_view name;
	std::string_view column; ///< title in a table of boxes, or empty
};

/// A group of metrics and the question of a user that these metrics answer.
struct metric_group {
	std::string_view name, question;
	std::span<const leading_metric> leading;

	static const std::span<const metric_group> all;
	/// Find the group with a name, or nullptr.
	static const metric_group *find(std::string_view name);
	/// List the leading metrics that a generation supports.
	std::vector<const metric_info *>
	leading_of(const catalogue &names) const;
};

/// A short name for an event of uncore top.  Box types with the same role each
/// have a preset of the same name.
struct preset {
	std::string_view name, box;
	std::string_view event; ///< "imc/cas_count.all,name=memory/"
	std::string_view help;
	bool is_default; ///< without a name; of the first box type that is there

	static const std::span<const preset> all;
};

struct catalogue_tables {
	std::string_view generation, title;
	std::span<const box_info> boxes;
	std::span<const field_info> fields;
	std::span<const event_info> events; ///< by box and name
	std::span<const value_info> values;
	std::span<const metric_info> metrics;
	std::span<const in_tree_filter> in_tree_filters;
	std::span<const in_tree_fault> in_tree_faults;
	std::span<const shared_field> shared_fields;
	std::span<const perf_name> perf_names; ///< by name
	std::span<const box_role> roles;
	std::span<const foreign_box> foreign_boxes;
	std::string_view interconnect; ///< "ring", "mesh", or empty

	/// Generations: the standard generation, then from newest to oldest.
	static const std::span<const catalogue_tables *const> all;
	/// Find the tables of a generation, or nullptr.
	static const catalogue_tables *find(std::string_view generation);
	/// Get the tables of catalogue::of() a machine.
	static const catalogue_tables &of(const topology &machine);
	static catalogue make(const catalogue_tables &tables);

	/// Find the box type with a role and a part; empty if there is none.
	std::string_view box_with(std::string_view role,
				  std::string_view part) const;
	/// Find the role of a box type, or nullptr.
	const box_role *role_of(std::string_view box) const;
	/// Translate another tool's name of a box type; empty if unknown.
	std::string_view box_of(foreign_box::tool used_by,
				std::string_view name) const;
};

} // namespace uncore
