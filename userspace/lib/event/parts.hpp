// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Interface between the files of the event parser.  parse.cpp splits the text
/// of an event into its parts; pmu.cpp and core.cpp resolve the parts, which
/// means to find the type and config words of perf_event_attr.  The other files
/// check the result and explain errors.
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
	std::string_view name; ///< name of the PMU or the event
	bool has_terms = false;
	std::vector<written_term> terms;
	std::string_view modifiers;
};

/// Parse "NAME", "NAME=VALUE", ...
/// @param where text that messages quote.
result<std::vector<written_term>> parse_terms(std::string_view text,
					      std::string_view where);

/// Translate perf's name of an uncore event (unc_m_cas_count.rd) to an event
/// string; empty for other names.
std::string perf_spelling(std::string_view name, const topology &machine);
/// Recognize an event of libpfm4, LIKWID or ucevent.
/// @return a message with the name to use; empty for other names.
std::string foreign_spelling(std::string_view text, const catalogue &names);

/// Resolve perf's generic events, raw events, and events of PMUs outside the
/// uncore.
result<event> resolve_core_name(const written_event &written,
				const topology &machine);
/// List the names that resolve_core_name() knows, for suggestions.
std::vector<std::string_view> core_names();

/// Resolve an event on a PMU of any type.
result<event> resolve_on_pmu(const written_event &written, const pmu_info &pmu,
			     const topology &machine);

/// Set the exclude flags of an event from its modifiers (":u").  Events of the
/// uncore (@p uncore) have no such modifiers.
result<void> apply_modifiers(const written_event &written, bool uncore,
			     event &target);

/// Config words of perf_event_attr, from the terms of an event.
struct config_words {
	uint64_t word[3] = {0, 0, 0};
	bool raw[3] = {false, false, false}; ///< the user wrote config=, ...
};

/// A PMU and its catalogue.  PMUs outside the uncore have no catalogue, nor
/// have boxes that the catalogue of the machine's generation does not list.
struct known_pmu {
	const pmu_info &pmu;
	const catalogue *names = nullptr;
	const catalogue_tables *tables = nullptr;

	/// Check that the driver is intel_uncore, which counts some events
	/// wrongly.
	bool in_tree() const
	{
		return tables && pmu.driver == pmu_driver::intel_uncore;
	}
};

/// Suggest names (hints.cpp) for an unknown event, value or field, or a
/// missing field of an event.
error unknown_event(const known_pmu &p, std::string_view alias);
error unknown_value(const known_pmu &p, std::string_view field,
		    std::string_view part);
error missing_field(const known_pmu &p, std::string_view alias,
		    std::string_view name);
/// Explain a missing PMU: a box of other generations only, or a box that not
/// all machines have.  Empty for other names.
std::string box_elsewhere(const catalogue &names, std::string_view name);
/// Check that the driver publishes a field, in which @p value is to be placed.
result<void> check_field(const known_pmu &p, std::string_view name,
			 uint64_t value);
/// Check for a valid event file name in an events folder; attributes such as
/// .scale are not event files.
bool is_event_file(std::string_view name);
/// Format a number as "0x1f".
std::string hex(uint64_t value);

/// Check that the words are consistent (checks.cpp).
result<void> check_words(const known_pmu &p, const config_words &words,
			 std::string_view text);
/// Refuse filters that an event ignores.  The driver refuses them as well, but
/// its error does not name the filter.
result<void> check_filters(const known_pmu &p, const config_words &words,
			   const event &counted);
/// Find the catalogue's event for config words, by the fields that select an
/// event (event, umask, occ_sel); nullptr if there is none.
const event_info *find_info(const known_pmu &p, const config_words &words);

/// Check that intel_uncore counts @p words correctly on a PMU.  The error gives
/// the reason.
result<void> check_in_tree(const pmu_info &pmu, const catalogue_tables &tables,
			   const config_words &words);
/// Check that intel_uncore places @p value in the hardware's bits of @p field.
result<void> check_in_tree_field(const pmu_info &pmu,
				 const catalogue_tables &tables,
				 std::string_view field, uint64_t value);
/// Recommend this project's driver: "; load xeon_uncore instead, which ...".
std::string use_our_driver(std::string_view advantage);

} // namespace uncore
