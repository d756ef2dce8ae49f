// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Tables that "events/generate.py --cpp" writes for each generation: the
/// public catalogue and the faults of intel_uncore; and the metric groups of
/// all generations.
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
	uint32_t instances; ///< bit n for box n
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

	/// Generations: the standard generation, then from newest to oldest.
	static const std::span<const catalogue_tables *const> all;
	/// Find the tables of a generation, or nullptr.
	static const catalogue_tables *find(std::string_view generation);
	static catalogue make(const catalogue_tables &tables);
};

} // namespace uncore
