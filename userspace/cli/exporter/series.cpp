// SPDX-License-Identifier: GPL-2.0-or-later
// Which events uncore serve counts.  Documentation/exporter.rst has the same
// list for people; selftests/exporter/serve.py holds one against the other.
#include "exporter/series.hpp"

namespace cli {

namespace {

constexpr double line = 64; ///< bytes of a cache line
constexpr double flit = 8;  ///< bytes of data in a QPI data flit

const instance_label instance_labels[] = {
	{"imc", "channel", true}, {"qpi", "link", true}, {"cbox", "slice"},
	{"ha", "agent"},	  {"sbox", "stop"},	 {"r3qpi", "stop"},
	{"irp", "unit"},
};

const series chosen[] = {
	// four general counters of each channel, and the fixed one
	{"uncore_memory_bytes",
	 "bytes",
	 "Data that a memory channel transferred, in lines of 64 bytes.",
	 "imc",
	 {{"cas_count.rd", {{"direction", "read"}}, line},
	  {"cas_count.wr", {{"direction", "write"}}, line}}},
	{"uncore_memory_clock_cycles",
	 "cycles",
	 "Memory clock cycles; two transfers of 8 bytes each are its peak.",
	 "imc",
	 {{"dclk", {}}}},
	{"uncore_memory_throttled_cycles",
	 "cycles",
	 "Memory clock cycles in which a channel was blocked for its "
	 "temperature.",
	 "imc",
	 {{"power_critical_throttle_cycles", {}}},
	 true},
	{"uncore_memory_self_refresh_cycles",
	 "cycles",
	 "Memory clock cycles that a channel was in self-refresh.",
	 "imc",
	 {{"power_self_refresh", {}}},
	 true},

	// four of each slice.  What misses is told by the TOR, as the states of
	// lookups share one filter: it could not be counted at the same time.
	{"uncore_llc_lookups",
	 "",
	 "Requests that were looked up in the last-level cache.",
	 "cbox",
	 {{"llc_lookup.any,filter_state=0x7f", {}},
	  {"llc_lookup.any,filter_state=0x3f",
	   {},
	   1,
	   "llc_lookup.any,filter_state=0x7f"},
	  {"llc_lookup.any,filter_state=0x1f",
	   {},
	   1,
	   "llc_lookup.any,filter_state=0x3f"}}},
	{"uncore_llc_misses",
	 "",
	 "Requests that missed the last-level cache, by the memory that "
	 "served them.",
	 "cbox",
	 {{"tor_inserts.miss_local", {{"memory", "local"}}, 1, {}, "misses"},
	  {"tor_inserts.miss_remote", {{"memory", "remote"}}, 1, {}, "misses"},
	  {"tor_inserts.miss_all", {{"memory", "any"}}, 1, "misses"}}},
	{"uncore_llc_modified_victims",
	 "",
	 "Modified lines that left the last-level cache to make room.",
	 "cbox",
	 {{"llc_victims.m_state", {}}}},

	// four of each home agent
	{"uncore_home_agent_requests",
	 "",
	 "Requests to a socket's memory, by the socket that they came from.",
	 "ha",
	 {{"requests.reads_local", {{"request", "read"}, {"origin", "local"}}},
	  {"requests.reads_remote",
	   {{"request", "read"}, {"origin", "remote"}}},
	  {"requests.writes_local",
	   {{"request", "write"}, {"origin", "local"}}},
	  {"requests.writes_remote",
	   {{"request", "write"}, {"origin", "remote"}}},
	  {"requests.reads",
	   {{"request", "read"}, {"origin", "any"}},
	   1,
	   "requests.reads_local"},
	  {"requests.writes",
	   {{"request", "write"}, {"origin", "any"}},
	   1,
	   "requests.writes_local"}}},

	// four of each port.  What it receives is what its peer sends.
	{"uncore_qpi_data_bytes",
	 "bytes",
	 "Data that a QPI port sent, without headers and other overhead.",
	 "qpi",
	 {{"txl_flits_g0.data", {{"direction", "transmit"}}, flit}}},
	{"uncore_qpi_overhead_flits",
	 "flits",
	 "Flits that a QPI port sent that are neither data nor idle: "
	 "requests, responses, headers.",
	 "qpi",
	 {{"txl_flits_g0.non_data", {{"direction", "transmit"}}}}},
	{"uncore_qpi_l1_cycles",
	 "cycles",
	 "Link clock cycles that a QPI port was shut down (L1).",
	 "qpi",
	 {{"l1_power_cycles", {}}}},
	{"uncore_qpi_clock_cycles",
	 "cycles",
	 "Link clock cycles; a port can send a flit in each, or 2 before "
	 "Haswell, whose clock was half as fast.",
	 "qpi",
	 {{"clockticks", {}}}},

	// both counters of each unit of the coherent IO
	{"uncore_pcie_bytes",
	 "bytes",
	 "Data that devices read from memory and wrote to it in whole lines "
	 "of 64 bytes.",
	 "irp",
	 {{"coherent_ops.pcirdcur", {{"direction", "read"}}, line},
	  {"coherent_ops.pcitom", {{"direction", "write"}}, line}}},

	// three of the ring stop of PCIe
	{"uncore_pcie_ring_used_cycles",
	 "cycles",
	 "Uncore clock cycles in which a data packet passed the ring stop of "
	 "PCIe.",
	 "r2pcie",
	 {{"ring_bl_used.cw", {{"direction", "clockwise"}}},
	  {"ring_bl_used.ccw", {{"direction", "counterclockwise"}}}}},
	{"uncore_pcie_ring_clock_cycles",
	 "cycles",
	 "Uncore clock cycles at the ring stop of PCIe.",
	 "r2pcie",
	 {{"clockticks", {}}}},

	// three of the four of each ring stop
	{"uncore_ring_used_cycles",
	 "cycles",
	 "Uses of the data ring that passed a socket's ring stops, by their "
	 "direction.",
	 "sbox",
	 {{"ring_bl_used.up", {{"direction", "up"}}},
	  {"ring_bl_used.down", {{"direction", "down"}}}}},
	{"uncore_ring_clock_cycles",
	 "cycles",
	 "Uncore clock cycles at the ring stops.",
	 "sbox",
	 {{"clockticks", {}}}},

	// the three of the ring stop of QPI
	{"uncore_qpi_ring_used_cycles",
	 "cycles",
	 "Uncore clock cycles in which a data packet passed the ring stop of "
	 "QPI.",
	 "r3qpi",
	 {{"ring_bl_used.cw", {{"direction", "clockwise"}}},
	  {"ring_bl_used.ccw", {{"direction", "counterclockwise"}}}}},
	{"uncore_qpi_ring_clock_cycles",
	 "cycles",
	 "Uncore clock cycles at the ring stop of QPI.",
	 "r3qpi",
	 {{"clockticks", {}}}},

	{"uncore_clock_cycles",
	 "cycles",
	 "Uncore clock cycles.",
	 "ubox",
	 {{"uclk", {}}}},

	// four of the power control unit, and the free-running ones
	{"uncore_pcu_clock_cycles",
	 "cycles",
	 "Cycles of the power control unit's clock, whose frequency is fixed.",
	 "pcu",
	 {{"clockticks", {}}}},
	{"uncore_frequency_limited_cycles",
	 "cycles",
	 "Power control unit's cycles in which that held the cores' frequency "
	 "down most.",
	 "pcu",
	 {{"freq_max_limit_thermal_cycles", {{"limit", "thermal"}}},
	  {"freq_max_power_cycles", {{"limit", "power"}}}}},
	{"uncore_active_core_cycles",
	 "cycles",
	 "Power control unit's cycles, times the cores in C0 or C1.",
	 "pcu",
	 {{"power_state_occupancy.cores_c0", {}}}},
	{"uncore_package_cstate_cycles",
	 "cycles",
	 "Cycles that a socket was in a C-state, as its own counters have "
	 "them.",
	 "pcu",
	 {{"pkg_c2_residency", {{"state", "c2"}}},
	  {"pkg_c3_residency", {{"state", "c3"}}},
	  {"pkg_c6_residency", {{"state", "c6"}}}}},

	// Xeon 7100 and 7400: two of the L3 cache, two of the snoops, four of
	// the bus
	{"uncore_llc_lookups",
	 "",
	 "Requests that were looked up in the last-level cache.",
	 "gbsq",
	 {{"lookups.any", {}}}},
	{"uncore_llc_misses",
	 "",
	 "Requests that missed the last-level cache, by the memory that "
	 "served them.",
	 "gbsq",
	 {{"fills.any", {{"memory", "any"}}}}},
	{"uncore_snoops",
	 "",
	 "Snoops of a socket's caches.",
	 "gsnpq",
	 {{"snoops.any", {}}}},
	{"uncore_snoop_modified_hits",
	 "",
	 "Snoops that found a modified line.",
	 "gsnpq",
	 {{"snoops.hitm", {}}}},
	{"uncore_bus_clock_cycles",
	 "cycles",
	 "Clock cycles of the front side bus.",
	 "fsb",
	 {{"bus_clocks", {}}}},
	{"uncore_bus_busy_cycles",
	 "cycles",
	 "Bus clock cycles in which the data bus was taken, by the agent that "
	 "took it; any has all of them.",
	 "fsb",
	 {{"bus_busy", {{"agent", "any"}}},
	  {"bus_busy_own", {{"agent", "own"}}}}},
	{"uncore_bus_transactions",
	 "",
	 "Transactions that a socket put on the front side bus.",
	 "fsb",
	 {{"transactions", {}}}},
};

} // namespace

std::span<const series> all_series()
{
	return chosen;
}

const instance_label *instance_label_of(std::string_view box)
{
	for (const instance_label &one : instance_labels)
		if (one.box == box)
			return &one;
	return nullptr;
}

} // namespace cli
