// SPDX-License-Identifier: GPL-2.0-or-later
// Writing perf.data files, so that perf reads them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <linux/perf_event.h>

#include <uncore/error.hpp>
#include <uncore/sampler.hpp>
#include <uncore/topology.hpp>

#include "perfdata/perf_reader.hpp"
#include "process/output_file.hpp"
#include "symbols/process_maps.hpp"

namespace cli {

/// Writes a file as it goes: records first, what describes them at the end.
/// Until then it has another name, and its owner alone may read it: it has
/// addresses of the kernel.
class perf_writer {
public:
	/// @p path empty: a temporary file, for read_back().
	/// Errors: errc::system.
	static uncore::result<perf_writer>
	create(const std::string &path,
	       std::span<const uncore::sampled_event> events);
	/// Have @p use called with each mapping of a process that is written
	/// from now on.
	void watch(std::function<void(const code_mapping &)> use)
	{
		watch_ = std::move(use);
	}
	/// The PMUs and the CPUs' sockets, to be called once.
	void describe(const uncore::topology &machine);

	void add(const perf_event_header &record);
	/// Add the kernel's own counts of lost records, one for each event:
	/// those after the last PERF_RECORD_LOST are in them.
	void add_lost(std::span<const uint64_t> lost);
	/// Where the kernel's code and that of its modules is.
	void add_kernel();
	/// The tasks that are there, with their executable mappings.
	void add_tasks();
	/// @return whether nothing more can be written.
	bool failed() const { return file_.failed(); }
	/// Gives the file its name; what had it has ".old" behind.
	/// Errors: errc::system, when anything could not be written.
	uncore::result<void> finish(const std::vector<std::string> &command);
	/// Read what finish() has completed.  Errors: of perf_file::read().
	uncore::result<perf_file> read_back() const;
	uint64_t samples() const { return samples_; }
	uint64_t lost() const { return std::max(lost_, lost_at_end_); }

private:
	explicit perf_writer(output_file file) : file_(std::move(file)) {}

	void put(const void *data, size_t size) { file_.write(data, size); }
	void put_string(const std::string &text);
	void put_events();
	void put_pmus();
	void put_sockets();
	void put_features(const std::vector<std::string> &command);
	void put_trailer(uint32_t pid, uint32_t tid, uint64_t id);
	void add_mapping(const process_mapping &m, uint16_t mode);
	void add_task(uint32_t pid);
	build_id id_of(const process_mapping &m);

	output_file file_;
	std::vector<perf_event_attr> attrs_;
	std::vector<std::vector<uint64_t>> ids_;
	std::vector<std::string> names_;
	std::map<uint32_t, std::string> pmus_;
	std::vector<int> sockets_; ///< of each CPU, -1 for unknown
	/// By device, inode and path.
	std::map<std::tuple<unsigned, unsigned, uint64_t, std::string>,
		 build_id>
		build_ids_;
	uint64_t data_start_ = 0, samples_ = 0;
	uint64_t lost_ = 0, lost_at_end_ = 0;
	std::function<void(const code_mapping &)> watch_;
};

} // namespace cli
