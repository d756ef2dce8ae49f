// SPDX-License-Identifier: GPL-2.0-or-later
// Where an event's records have what: its sample_type says so, and each event
// of a file may have its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <linux/perf_event.h>

#include "perfdata/byte_reader.hpp"
#include "symbols/process_maps.hpp"

namespace cli {

/// What ran, by the record's PERF_RECORD_MISC_CPUMODE_MASK.
enum class cpu_mode { unknown, kernel, user, hypervisor, guest };

cpu_mode mode_of(const perf_event_header &header);

/// A sample as far as this program uses it.
struct file_sample {
	uint64_t time = 0, ip = 0, period = 0;
	uint32_t pid = 0, tid = 0, cpu = 0;
	cpu_mode mode = cpu_mode::unknown;
	size_t event = 0;	   ///< index into perf_file::events
	size_t mapping = SIZE_MAX; ///< into perf_file::mappings; none: unknown
	std::string task; ///< the name that the task had then, "" for unknown
	/// Call chain in perf_file::frames, innermost first; 0 frames: none.
	size_t first_frame = 0, frames = 0;
};

/// A function of a call chain.
struct file_frame {
	uint64_t ip = 0;
	size_t mapping = SIZE_MAX; ///< into perf_file::mappings; none: unknown
	cpu_mode mode = cpu_mode::unknown;
	bool calls = false; ///< the address is where a call returns to
};

/// Decode a record of code that was mapped (PERF_RECORD_MMAP, _MMAP2); none if
/// it is too short.
std::optional<code_mapping> mapping_of(const perf_event_header &header,
				       byte_reader body);

class sample_layout {
public:
	explicit sample_layout(const perf_event_attr &attr) : attr_(attr) {}

	/// Where the event's number is, in words of 64 bits: from the start of
	/// samples, and from the end of other records; none where it is not.
	std::optional<size_t> id_in_sample() const;
	std::optional<size_t> id_from_end() const;
	bool has_time() const { return attr_.sample_type & PERF_SAMPLE_TIME; }

	/// Append a sample's call chain to @p frames.
	/// @return false when @p body is too short.
	bool read(byte_reader body, file_sample &sample,
		  std::vector<file_frame> &frames) const;
	/// The time at the end of a record other than a sample, or 0.
	uint64_t time_at_end(byte_reader body) const;

private:
	uint64_t count(uint64_t bits) const;
	void skip_counts(byte_reader &body) const;

	perf_event_attr attr_;
};

} // namespace cli
