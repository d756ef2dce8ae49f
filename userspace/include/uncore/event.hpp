// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Event strings: perf's syntax, with the catalogue's names for events and
/// filter values, resolved to what perf_event_open() wants.
///
///     hswep_imc_0/cas_count.rd/
///     hswep_cbox/tor_inserts.miss_opcode,filter_opc=drd,name=misses/
///     imc/cas_count.rd/                      any prefix, all instances
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
	/// The type of duration_time, which is not opened: its count is the
	/// time that passed, in nanoseconds.
	static constexpr uint32_t duration_time = UINT32_MAX;

	std::string name;		  ///< what to show: name=, or the text
	std::string text;		  ///< as it was written
	const pmu_info *pmu = nullptr;	  ///< nullptr: counted on every CPU
	const event_info *info = nullptr; ///< of the catalogue, if it is there
	uint32_t type = 0;		  ///< perf_event_attr's
	uint64_t config = 0, config1 = 0, config2 = 0;
	uint64_t sample_period = 0; ///< period=, 0 for none
	/// From the modifiers of a core event, "instructions:u".
	bool exclude_user = false, exclude_kernel = false, exclude_hv = false;
	double scale = 1; ///< of a count, to be in @c unit
	std::string unit;
};

/// What one element of an event list names: the same event on one or more
/// PMUs, so that "cbox/.../" can be shown as a sum.
struct event_term {
	std::string name;
	std::string text;
	std::vector<event> events; ///< one for each PMU, at least one
};

/// Terms that are to be counted at the same time; one term for those outside
/// braces.
struct event_group {
	std::vector<event_term> terms;
	bool braces = false;
	/// "{...}:W": to be counted one by one where they do not fit at once.
	bool weak = false;
};

/// Parses a list, "a,b,{c,d}".
/// Events and values are looked up in the catalogue of @p machine's generation,
/// others in its driver's events folder.  What the kernel's own driver is known
/// to count wrongly is refused (errc::unsupported), raw values included.
/// The result refers to @p machine: it is good as long as that, or a copy of
/// it, is there. Errors: errc::invalid (syntax, value too wide for its field),
/// errc::not_found (no such PMU, event, field or value name: names the nearest
/// ones; a missing parameter: names the field and some values),
/// errc::unsupported (the driver lacks a field that the event needs),
/// errc::no_driver.
UNCORE_EXPORT result<std::vector<event_group>>
parse_events(std::string_view text, const topology &machine);

} // namespace uncore
