// SPDX-License-Identifier: LGPL-2.1-or-later
// Which filter fields an event shares with the other events of its box, and
// which counters may count it.  Tables by generation, no logic but look-ups.
#include "sharing.hpp"

#include <span>

namespace uncore {

namespace {

constexpr uint64_t code_bits = 0x2000ff, code_mask = 0xff;

/// Bits @p low to @p high.
constexpr uint64_t bits(unsigned low, unsigned high)
{
	return (~0ull >> (63 - high)) & (~0ull << low);
}

constexpr uint64_t cbox_nid = bits(32, 47);
// §2.9.2.3: what the match and mask registers do not reserve
constexpr uint64_t qpi_packet =
	bits(31, 31) | bits(3, 17) | bits(32, 35) | bits(48, 51);

// Zero is a value of a field like any other: an event that did not ask for it
// must not be filtered by another's.
constexpr shared_field hswep_fields[] = {
	{"ubox", "filter_tid", code_mask, 0x42, {0, bits(0, 0)}},
	{"ubox", "filter_cid", code_mask, 0x42, {0, bits(1, 5)}},
	{"ubox", "filter_tid", code_mask, 0x45, {0, bits(0, 0)}},
	{"ubox", "filter_cid", code_mask, 0x45, {0, bits(1, 5)}},
	{"cbox", "filter_tid", 1 << 19, 1 << 19, {0, bits(0, 5)}},
	{"cbox", "filter_state", code_mask, 0x34, {0, bits(17, 23)}},
	// unit mask bit 6 is "of the node in the filter" (§2.3.6)
	{"cbox", "filter_nid", 0x40ff, 0x4028, {0, cbox_nid}},
	{"cbox", "filter_nid", 0x40ff, 0x4029, {0, cbox_nid}},
	{"cbox", "filter_nid", 0x40ff, 0x402a, {0, cbox_nid}},
	{"cbox", "filter_nid", 0x40ff, 0x4031, {0, cbox_nid}},
	{"cbox", "filter_nid", 0x40ff, 0x4032, {0, cbox_nid}},
	{"cbox", "filter_nid", 0x40ff, 0x4033, {0, cbox_nid}},
	{"cbox", "filter_nid", 0x40ff, 0x4034, {0, cbox_nid}},
	{"cbox", "filter_nid", 0x40ff, 0x4035, {0, cbox_nid}},
	{"cbox", "filter_nid", 0x40ff, 0x4036, {0, cbox_nid}},
	{"cbox", "filter_nid", 0x40ff, 0x4037, {0, cbox_nid}},
	// bit 0 of the TOR events' is "of the opcode in the filter"
	{"cbox", "filter_opc", 0x1ff, 0x135, {0, bits(52, 60)}},
	{"cbox", "filter_opc", 0x1ff, 0x136, {0, bits(52, 60)}},
	{"cbox", "filter_c6", 0x1ff, 0x135, {0, bits(61, 61)}},
	{"cbox", "filter_c6", 0x1ff, 0x136, {0, bits(61, 61)}},
	{"cbox", "filter_nc", 0x1ff, 0x135, {0, bits(62, 62)}},
	{"cbox", "filter_nc", 0x1ff, 0x136, {0, bits(62, 62)}},
	{"cbox", "filter_isoc", 0x1ff, 0x135, {0, bits(63, 63)}},
	{"cbox", "filter_isoc", 0x1ff, 0x136, {0, bits(63, 63)}},
	{"cbox", "filter_link", 0x1ff, 0x135, {0, bits(6, 8)}},
	{"cbox", "filter_link", 0x1ff, 0x136, {0, bits(6, 8)}},
	// ADDR_OPC_MATCH: unit mask bit 0 is the address, 1 to 4 opcodes
	{"ha", "filter_addr", 0x1ff, 0x120, {0, bits(6, 45)}},
	{"ha", "filter_opc", 0x2ff, 0x220, {0, bits(48, 53)}},
	{"ha", "filter_opc", 0x4ff, 0x420, {0, bits(48, 53)}},
	{"ha", "filter_opc", 0x8ff, 0x820, {0, bits(48, 53)}},
	{"ha", "filter_opc", 0x10ff, 0x1020, {0, bits(48, 53)}},
	{"pcu", "filter_band0", code_bits, 0x0b, {0, bits(0, 7)}},
	{"pcu", "filter_band1", code_bits, 0x0c, {0, bits(8, 15)}},
	{"pcu", "filter_band2", code_bits, 0x0d, {0, bits(16, 23)}},
	{"pcu", "filter_band3", code_bits, 0x0e, {0, bits(24, 31)}},
	// one port matches what it receives or what it sends
	{"qpi", "match_tx", code_bits, 0x200038, {bits(32, 32)}},
	{"qpi", "match", code_bits, 0x200038, {0, qpi_packet}},
	{"qpi", "mask", code_bits, 0x200038, {0, 0, qpi_packet}},
};

std::span<const shared_field> fields_of(std::string_view generation)
{
	if (generation == "hswep")
		return hswep_fields;
	return {};
}

/// Fixed and free-running counters: one for each unit mask.
uint32_t special_counter(const event &wanted)
{
	uint64_t umask = wanted.config >> 8 & 0xff;

	return 1u << (16 + (umask ? 1 + (umask & 7) : 0));
}

} // namespace

demand demand_of(const event &wanted, std::string_view generation)
{
	const catalogue *known = catalogue::find(generation);
	const box_info *box = nullptr;
	demand asked;

	if (known && wanted.pmu && wanted.pmu->driver != driver::other)
		box = known->box(wanted.pmu->box);
	if (!box)
		return asked;
	if ((wanted.config & code_mask) == 0xff) {
		asked.counters = special_counter(wanted);
		return asked;
	}
	asked.counters = (1u << box->counters) - 1;
	// Which counters can count an event does not depend on its unit mask.
	for (const event_info &info : known->events())
		if (info.box == box->name && info.counters &&
		    !((info.config ^ wanted.config) & code_bits))
			asked.counters = info.counters;
	for (const shared_field &field : fields_of(generation))
		if (field.box == box->name &&
		    (wanted.config & field.mask) == field.select)
			for (unsigned word = 0; word < 3; word++)
				asked.filters[word] |= field.bits[word];
	return asked;
}

std::string_view shared_name(const event &wanted, std::string_view generation,
			     unsigned word, uint64_t bits)
{
	for (const shared_field &field : fields_of(generation))
		if (field.box == wanted.pmu->box && field.bits[word] & bits &&
		    (wanted.config & field.mask) == field.select)
			return field.name;
	return "filter";
}

} // namespace uncore
