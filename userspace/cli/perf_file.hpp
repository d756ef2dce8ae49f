// SPDX-License-Identifier: GPL-2.0-or-later
// perf.data files: written so that perf reads them, and read whoever wrote
// them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <linux/perf_event.h>

#include <uncore/error.hpp>
#include <uncore/sampler.hpp>

namespace cli {

/// Writes a file as it goes: records first, what describes them at the end.
class perf_writer {
public:
	/// Errors: errc::system.
	uncore::result<void>
	open(const std::string &path,
	     std::span<const uncore::sampled_event> events);
	void add(const perf_event_header &record);
	/// Where the kernel's code and that of its modules is.
	void add_kernel();
	/// The tasks that are there, with their executable mappings.
	void add_tasks();
	/// Errors: errc::system, when anything could not be written.
	uncore::result<void> finish(const std::vector<std::string> &command);
	uint64_t samples() const { return samples_; }

private:
	struct closer {
		void operator()(std::FILE *file) const { std::fclose(file); }
	};

	void put(const void *data, size_t size);
	void put_string(const std::string &text);
	void add_mapping(uint32_t pid, uint32_t tid, uint64_t start,
			 uint64_t length, uint64_t offset, bool kernel,
			 const std::string &name);
	void add_task(int pid);
	void put_trailer(uint32_t pid, uint32_t tid);
	std::vector<perf_event_attr> attrs_;
	std::vector<std::vector<uint64_t>> ids_;
	std::vector<std::string> names_;
	std::string path_;
	std::unique_ptr<std::FILE, closer> file_;
	uint64_t data_start_ = 0, samples_ = 0;
};

/// A sample as far as this program uses it.
struct file_sample {
	uint64_t time = 0, ip = 0, period = 0;
	uint32_t pid = 0, tid = 0, cpu = 0;
	bool kernel = false;
	size_t event = 0; ///< index into perf_file::events
	std::string task; ///< the name that the task had then, "" for unknown
};

/// An executable mapping of a process, from a time on.
struct file_mapping {
	uint64_t time, start, length, offset;
	uint32_t pid;
	std::string name;
};

struct file_event {
	perf_event_attr attr{};
	std::vector<uint64_t> ids;
	std::string name;
};

/// What a file says.
struct perf_file {
	std::vector<file_event> events;
	std::vector<file_sample> samples; ///< in order of time
	std::vector<file_mapping> mappings;
	std::unordered_map<uint32_t, uint32_t> parents; ///< by process
	uint64_t lost = 0;

	/// Errors: errc::system, errc::invalid (no such file as this; cut off).
	static uncore::result<perf_file> read(const std::string &path);
};

} // namespace cli
