// SPDX-License-Identifier: GPL-2.0-or-later
// Where an event's records have what (perf_event_open(2), PERF_RECORD_SAMPLE
// and sample_id).
#include "perfdata/sample_layout.hpp"

#include <bit>

namespace cli {

cpu_mode mode_of(const perf_event_header &header)
{
	switch (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return cpu_mode::kernel;
	case PERF_RECORD_MISC_USER:
		return cpu_mode::user;
	case PERF_RECORD_MISC_HYPERVISOR:
		return cpu_mode::hypervisor;
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		return cpu_mode::guest;
	default:
		return cpu_mode::unknown;
	}
}

/// How many of the fields there are; each has one word.
uint64_t sample_layout::count(uint64_t bits) const
{
	return uint64_t(std::popcount(attr_.sample_type & bits));
}

std::optional<size_t> sample_layout::id_in_sample() const
{
	if (attr_.sample_type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (attr_.sample_type & PERF_SAMPLE_ID)
		return count(PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			     PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
	return std::nullopt;
}

std::optional<size_t> sample_layout::id_from_end() const
{
	if (!attr_.sample_id_all)
		return std::nullopt;
	if (attr_.sample_type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (attr_.sample_type & PERF_SAMPLE_ID)
		return 1 + count(PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU);
	return std::nullopt;
}

bool sample_layout::read(byte_reader body, file_sample &sample) const
{
	uint64_t type = attr_.sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		body.take<uint64_t>();
	if (type & PERF_SAMPLE_IP)
		sample.ip = body.take<uint64_t>();
	if (type & PERF_SAMPLE_TID) {
		sample.pid = body.take<uint32_t>();
		sample.tid = body.take<uint32_t>();
	}
	if (type & PERF_SAMPLE_TIME)
		sample.time = body.take<uint64_t>();
	body.skip(sizeof(uint64_t) * count(PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
					   PERF_SAMPLE_STREAM_ID));
	if (type & PERF_SAMPLE_CPU) {
		sample.cpu = body.take<uint32_t>();
		body.take<uint32_t>();
	}
	// With a frequency the attribute does not say how many events a sample
	// stands for: each counts alike then.
	sample.period = type & PERF_SAMPLE_PERIOD ? body.take<uint64_t>()
			: attr_.freq		  ? 1
						  : attr_.sample_period;
	return body.good();
}

uint64_t sample_layout::time_at_end(byte_reader body) const
{
	size_t words = 1 + count(PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);

	if (!attr_.sample_id_all || !has_time() ||
	    body.left() < words * sizeof(uint64_t))
		return 0;
	return body.last(words * sizeof(uint64_t)).take<uint64_t>();
}

} // namespace cli
