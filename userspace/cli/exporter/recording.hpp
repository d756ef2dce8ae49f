// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings of the die map: a document a line, so that a truncated recording
// stays readable (Documentation/die-map.rst).
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

	/// Write the machine; to be called first, with open counters.
	void begin(const collector &counters);
	/// Write a snapshot.  Counters opened after begin() are omitted;
	/// counters closed since begin() are null.
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
	std::vector<std::string> counters_; ///< "SOCKET EVENT" at begin()
	size_t snapshots_ = 0;
};

} // namespace cli
