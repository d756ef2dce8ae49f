// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings of the die map.  A recording is a file with a JSON document in each line:
// the machine, then a snapshot of the counts a second.  So a truncated recording stays
// readable.  Documentation/die-map.rst has the format.
#pragma once

#include <string>
#include <vector>

#include <uncore/error.hpp>

#include "exporter/collector.hpp"
#include "exporter/limits.hpp"
#include "process/output_file.hpp"

namespace cli {

/// Writer of a recording, snapshot by snapshot.
class recorder {
public:
	/// Create the file.  Errors: errc::system.
	static uncore::result<recorder> create(const std::string &path);

	/// Write the machine.  Call first, with open counters.
	void begin(const collector &counters);
	/// Write a snapshot: the counts of the counters that were open at begin(),
	/// null for a counter that has been closed since.
	void add(const collector &counters,
		 std::chrono::steady_clock::time_point read_at);
	/// Write the end mark and commit the file.  Errors: errc::system, also
	/// of any earlier write.
	uncore::result<void> end();

	bool failed() const { return file_.failed(); }
	size_t snapshots() const { return snapshots_; }

private:
	explicit recorder(output_file file) : file_(std::move(file)) {}
	void write(const std::string &line);

	output_file file_;
	limit_uses uses_;
	/// Key of each count in a snapshot: "SOCKET EVENT".
	std::vector<std::string> counters_;
	size_t snapshots_ = 0;
};

} // namespace cli
