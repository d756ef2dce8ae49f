// SPDX-License-Identifier: GPL-2.0-or-later
// Where an event's records have what (perf_event_open(2), PERF_RECORD_SAMPLE
// and sample_id).
#include "perfdata/sample_layout.hpp"

#include <bit>

#include "perfdata/perf_format.hpp"

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

std::optional<code_mapping> mapping_of(const perf_event_header &header,
				       byte_reader body)
{
	const auto place = body.take<mmap_record>();
	code_mapping m;

	m.pid = place.pid;
	m.start = place.start;
	m.length = place.length;
	m.offset = place.offset;
	if (header.type == PERF_RECORD_MMAP2) {
		const auto more = body.take<mmap2_record>();

		if (header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
		    more.id_size <= sizeof(more.id))
			m.id = build_id({more.id, more.id_size});
	}
	m.path = body.text();
	if (!body.good() || !m.length)
		return std::nullopt;
	return m;
}

/// What the kernel reads of a group (PERF_SAMPLE_READ), before the call chain.
void sample_layout::skip_counts(byte_reader &body) const
{
	const uint64_t format = attr_.read_format;
	const auto has = [format](uint64_t bit) { return (format & bit) != 0; };
	const size_t times = has(PERF_FORMAT_TOTAL_TIME_ENABLED) +
			     has(PERF_FORMAT_TOTAL_TIME_RUNNING);
	const size_t each = 1 + has(PERF_FORMAT_ID) + has(format_lost);
	size_t words = times + each;

	if (has(PERF_FORMAT_GROUP)) {
		const auto members = body.take<uint64_t>();

		if (members > body.left())
			return body.skip(SIZE_MAX);
		words = times + size_t(members) * each;
	}
	body.skip(words * sizeof(uint64_t));
}

/// The processor's mode from a marker of perf's between the addresses.
static cpu_mode mode_of_marker(uint64_t marker)
{
	switch (marker) {
	case PERF_CONTEXT_HV:
		return cpu_mode::hypervisor;
	case PERF_CONTEXT_KERNEL:
		return cpu_mode::kernel;
	case PERF_CONTEXT_USER:
		return cpu_mode::user;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_KERNEL:
	case PERF_CONTEXT_GUEST_USER:
		return cpu_mode::guest;
	default:
		return cpu_mode::unknown;
	}
}

/// @return false when @p body is too short.
static bool read_chain(byte_reader &body, cpu_mode mode, file_sample &sample,
		       std::vector<file_frame> &frames)
{
	const auto words = body.take<uint64_t>();
	bool calls = false;

	if (words > body.left() / sizeof(uint64_t))
		return false;
	sample.first_frame = frames.size();
	for (uint64_t i = 0; i < words; i++) {
		const auto address = body.take<uint64_t>();

		if (address >= uint64_t(PERF_CONTEXT_MAX)) {
			mode = mode_of_marker(address);
			calls = false;
			continue;
		}
		frames.push_back({address, SIZE_MAX, mode, calls});
		calls = true;
	}
	sample.frames = frames.size() - sample.first_frame;
	return true;
}

bool sample_layout::read(byte_reader body, file_sample &sample,
			 std::vector<file_frame> &frames) const
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
	if (type & PERF_SAMPLE_READ)
		skip_counts(body);
	if (type & PERF_SAMPLE_CALLCHAIN &&
	    !read_chain(body, sample.mode, sample, frames))
		return false;
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
