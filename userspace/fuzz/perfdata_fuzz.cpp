// SPDX-License-Identifier: GPL-2.0-or-later
// perf.data files: what is read is whole, whatever the file said.
#include "fuzz.hpp"

#include <string>

#include "perfdata/perf_reader.hpp"

using namespace cli;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const auto file = perf_file::parse(
		{reinterpret_cast<const char *>(data), size}, "file");
	uint64_t time = 0;

	if (!file) {
		require_clean(file.error());
		return 0;
	}
	require(!file->events.empty(), "a file has an event");
	for (const file_sample &s : file->samples) {
		require(s.event < file->events.size(), "a sample has an event");
		require(s.time >= time, "samples are in order of time");
		time = s.time;
		require(s.frames <= file->frames.size() &&
				s.first_frame <= file->frames.size() - s.frames,
			"a sample's call chain is there");
		for (const file_frame &frame : file->frames_of(s))
			require(frame.mapping == SIZE_MAX ||
					(frame.mapping <
						 file->mappings.size() &&
					 file->mappings[frame.mapping].contains(
						 frame.ip)),
				"a function is in its mapping");
		if (s.mapping == SIZE_MAX)
			continue;
		require(s.mapping < file->mappings.size(),
			"a sample's mapping is there");
		require(file->mappings[s.mapping].contains(s.ip),
			"a sample is in its mapping");
	}
	return 0;
}
