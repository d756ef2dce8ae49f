// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Event strings: perf's syntax, with the catalogue's names for events and
/// filter values.  parse_events() turns them into the numbers of
/// perf_event_attr.
///
///     hswep_imc_0/cas_count.rd/
///     hswep_cbox/tor_inserts.miss_opcode,filter_opc=drd,name=misses/
///     imc/cas_count.rd/                      any prefix, all boxes of a type
///     {imc_0/cas_count.rd/,imc_0/dclk/}      one group
///     cbox/event=0x34,umask=0x11,filter_state=i/
///     instructions, cycles, ...              the core's and perf's own
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/catalogue.hpp>
#include <uncore/error.hpp>
#include <uncore/export.hpp>
#include <uncore/topology.hpp>

namespace uncore {

/// An event on one PMU, ready to be opened on each CPU of its cpumask.
struct event {
	/// Value of type for the event duration_time. It is not opened: its
	/// count is the time that passed, in nanoseconds.
	static constexpr uint32_t duration_time = UINT32_MAX;

	std::string name;		  ///< for output: name=, or the text
	std::string text;		  ///< the event as it was written
	const pmu_info *pmu = nullptr;	  ///< nullptr: counted on every CPU
	const event_info *info = nullptr; ///< nullptr: not in the catalogue
	/// Members of perf_event_attr; type is duration_time for that event.
	uint32_t type = 0;
	uint64_t config = 0, config1 = 0, config2 = 0;
	uint64_t sample_period = 0; ///< period=, in counts; 0 for none
	/// From the modifiers of a core event, "instructions:u".
	bool exclude_user = false, exclude_kernel = false, exclude_hv = false;
	double scale = 1; ///< factor from a count to a value in @c unit
	std::string unit;
};

/// One element of an event list. It names an event of one or more PMUs:
/// "cbox/.../" is an event of each CBo, and its value is the sum.
struct event_term {
	std::string name;
	std::string text;
	std::vector<event> events; ///< one for each PMU, at least one
};

/// The terms within a pair of braces, which must count at the same time. A term
/// outside of braces is a group of one term.
struct event_group {
	std::vector<event_term> terms;
	bool braces = false;
	/// "{...}:W": if the terms cannot count at the same time, count them
	/// separately.
	bool weak = false;
};

/// Parse a list of events, "a,b,{c,d}".
///
/// Names of events and of filter values are looked up in the catalogue of the
/// machine's generation; names of events that the catalogue does not have, in
/// the events folder of the PMU.  Events that intel_uncore, the kernel's own
/// driver, counts wrongly are refused under that driver (errc::unsupported),
/// also if they are given as raw numbers.
///
/// The result has pointers into @p machine: it is valid as long as @p machine
/// or a copy of @p machine exists.
/// Errors: errc::invalid (syntax, value too wide for its field),
/// errc::not_found (no such PMU, event, field or value name; the message has
/// the nearest names. Or a missing parameter; the message has the field and
/// some values), errc::unsupported (the driver lacks a field that the event
/// needs, or counts the event wrongly), errc::no_driver.
UNCORE_EXPORT result<std::vector<event_group>>
parse_events(std::string_view text, const topology &machine);

} // namespace uncore
