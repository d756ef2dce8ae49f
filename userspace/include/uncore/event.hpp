// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Event strings: perf's syntax, with the catalogue's names for events and
/// filter values, resolved to the numbers that perf_event_open() needs.
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
	/// The type of duration_time, for which no perf event is opened: its
	/// count is the elapsed time in nanoseconds.
	static constexpr uint32_t duration_time = UINT32_MAX;

	std::string name;		  ///< name to print: name=, or the text
	std::string text;		  ///< the text that was parsed
	const pmu_info *pmu = nullptr;	  ///< nullptr: counted on every CPU
	const event_info *info = nullptr; ///< nullptr: not in the catalogue
	uint32_t type = 0;		  ///< perf_event_attr.type
	uint64_t config = 0, config1 = 0, config2 = 0;
	uint64_t sample_period = 0; ///< period=, or 0
	/// From the modifiers of a core event, "instructions:u".
	bool exclude_user = false, exclude_kernel = false, exclude_hv = false;
	double scale = 1; ///< a count times scale is in @c unit
	std::string unit;
};

/// An element of an event list: the same event on one or more PMUs, so that
/// "cbox/.../" can be shown as a sum.
struct event_term {
	std::string name;
	std::string text;
	std::vector<event> events; ///< one for each PMU, at least one
};

/// Terms to count at the same time.  A term outside braces is a group of one
/// term.
struct event_group {
	std::vector<event_term> terms;
	bool braces = false;
	/// "{...}:W": count the terms separately if they do not fit at the same
	/// time.
	bool weak = false;
};

/// Parse an event list, "a,b,{c,d}".
/// Events and values are looked up in the catalogue of @p machine's generation.
/// Events that the catalogue lacks are looked up in the events folder of the
/// driver.  Events that intel_uncore is known to count wrongly are refused
/// (errc::unsupported), also if given as raw values.
/// The result has pointers into @p machine, and is valid as long as @p machine or
/// a copy of it exists.
/// Errors: errc::invalid (syntax, value too wide for its field), errc::not_found
/// (unknown name of a PMU, event, field or value: the message has the nearest
/// names; missing parameter: the message has the field and some values),
/// errc::unsupported (the driver lacks a field that the event needs),
/// errc::no_driver.
UNCORE_EXPORT result<std::vector<event_group>>
parse_events(std::string_view text, const topology &machine);

} // namespace uncore
