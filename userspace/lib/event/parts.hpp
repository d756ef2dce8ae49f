// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the parts of the event parser share: a written event taken apart, and
/// the steps from there to perf_event_attr.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/event.hpp>

namespace uncore {

struct catalogue_tables;

/// A term between a PMU's slashes: NAME or NAME=VALUE.
struct written_term {
	std::string_view name;
	std::optional<std::string_view> value;
};

/// An event as written: PMU/TERMS/MODIFIERS, or NAME:MODIFIERS.
struct written_event {
	std::string_view text;
	std::string_view name; ///< the PMU's, or the event's
	bool has_terms = false;
	std::vector<written_term> terms;
	std::string_view modifiers;
};

/// Takes "NAME", "NAME=VALUE", ... apart; @p where is for the message.
result<std::vector<written_term>> parse_terms(std::string_view text,
					      std::string_view where);

/// The event string for a name that perf has for an uncore event
/// (unc_m_cas_count.rd), or nothing.
std::string perf_spelling(std::string_view name, const topology &machine);
/// For an event of libpfm4, LIKWID or ucevent: a message with the name to use.
std::string foreign_spelling(std::string_view text, const catalogue &all);

/// perf's own events, raw ones, and those of PMUs that are not of the uncore's.
result<event> resolve_core_name(const written_event &written,
				const topology &machine);
/// Names that resolve_core_name() knows, for suggestions.
std::vector<std::string_view> core_names();

/// An event of @p on, which is any PMU.
result<event> resolve_on_pmu(const written_event &written, const pmu_info &on,
			     const topology &machine);

/// Fills in the exclude flags; @p uncore events have no such thing.
result<void> apply_modifiers(const written_event &written, bool uncore,
			     event &into);

/// The values of perf_event_attr that terms ask for, and what was asked.
struct config_words {
	uint64_t word[3] = {0, 0, 0};
	bool raw[3] = {false, false, false}; ///< given as config=, ...
};

/// A PMU, and what the catalogue knows of its box: nothing, when it is another
/// processor's or none of the uncore's.
struct known_pmu {
	const pmu_info &on;
	const catalogue *known = nullptr;
	const catalogue_tables *tables = nullptr;

	/// Are its words the kernel's own driver's, which gets some wrong?
	bool in_tree() const
	{
		return tables && on.driver == pmu_driver::intel_uncore;
	}
};

/// What was meant, in words (hints.cpp): an event, a value or a field
/// that is not there, or a field that an event needs.
error unknown_event(const known_pmu &p, std::string_view alias);
error unknown_value(const known_pmu &p, std::string_view field,
		    std::string_view part);
error missing_field(const known_pmu &p, std::string_view alias,
		    std::string_view name);
/// The reason why no PMU of a machine of @p here has that name, if it is a box's
/// of other generations or one that not all machines have; else nothing.
std::string box_elsewhere(const catalogue &here, std::string_view name);
/// Has the driver that field?
result<void> check_field(const known_pmu &p, std::string_view name,
			 uint64_t value);
/// May that be a file's name in an events folder, and no attribute's?
bool is_event_file(std::string_view name);
/// "0x1f"
std::string hex(uint64_t value);

/// Do these words make sense together (checks.cpp)?
result<void> check_words(const known_pmu &p, const config_words &words,
			 std::string_view text);
/// The driver refuses filters that an event does not look at, without a word
/// about which.
result<void> check_filters(const known_pmu &p, const config_words &words,
			   const event &wanted);
/// The catalogue's event with these select bits, or nullptr.
const event_info *find_info(const known_pmu &p, const config_words &words);

/// Would intel_uncore count @p words on @p on wrongly?  Then an error that says
/// why.
result<void> check_in_tree(const pmu_info &on, const catalogue_tables &tables,
			   const config_words &words);
/// Does @p field of intel_uncore put @p value where the hardware has it?
result<void> check_in_tree_field(const pmu_info &on,
				 const catalogue_tables &tables,
				 std::string_view field, uint64_t value);
/// "; xeon_uncore has it", where to go.
std::string use_our_driver(std::string_view what);

} // namespace uncore
