// SPDX-License-Identifier: GPL-2.0-or-later
// Reading perf.data files, of perf and of this command.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <linux/perf_event.h>

#include <uncore/error.hpp>

#include "perfdata/sample_layout.hpp"
#include "symbols/process_maps.hpp"

namespace cli {

struct file_event {
	perf_event_attr attr{};
	std::vector<uint64_t> ids;
	std::string name;
};

/// What a file says.
struct perf_file {
	std::vector<file_event> events;
	std::vector<file_sample> samples;     ///< in order of time
	std::vector<file_frame> frames;	      ///< of the samples' call chains
	std::vector<code_mapping> mappings;   ///< of processes
	std::vector<code_mapping> kernel;     ///< the kernel's and its modules'
	std::string host;		      ///< "" for unknown
	std::string release;		      ///< of the kernel, "" for unknown
	std::map<uint32_t, std::string> pmus; ///< names by attr.type
	std::vector<int> sockets; ///< of each CPU, -1 for unknown; may be empty
	uint64_t lost = 0;	  ///< samples
	uint64_t foreign = 0; ///< samples of events that the file does not have

	/// Errors: errc::system, errc::invalid (no such file as this; cut off).
	static uncore::result<perf_file> read(const std::string &path);
	/// Whether a file begins as perf.data files do.
	static bool is_one(const std::string &path);
	/// The same as read() for one that is open; @p path is for messages.
	static uncore::result<perf_file> read(int fd, const std::string &path);
	/// The same for one in memory; @p path is for messages.
	static uncore::result<perf_file> parse(std::span<const char> contents,
					       const std::string &path);

	std::span<file_frame> frames_of(const file_sample &sample)
	{
		return std::span(frames).subspan(sample.first_frame,
						 sample.frames);
	}
	std::span<const file_frame> frames_of(const file_sample &sample) const
	{
		return std::span(frames).subspan(sample.first_frame,
						 sample.frames);
	}
};

} // namespace cli
