// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings of the die map: a document a line, so that one which is cut short
// is still a recording (Documentation/die-map.rst).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <uncore/error.hpp>

#include "exporter/collector.hpp"
#include "http/server.hpp"
#include "process/output_file.hpp"
#include "process/unique_fd.hpp"

namespace cli {

/// Writes one while it is counted.
class recorder {
public:
	/// Errors: errc::system.
	static uncore::result<recorder> create(const std::string &path);

	/// The machine, to be written first, when the counters are open.
	void begin(const collector &counters);
	/// What they have at that time.  What had no counter when it began is
	/// left out, and what has none now is null.
	void add(const collector &counters,
		 std::chrono::steady_clock::time_point read_at);
	/// That nothing is missing.  Errors: errc::system, also of any write
	/// before.
	uncore::result<void> end();

	bool failed() const { return file_.failed(); }
	size_t snapshots() const { return snapshots_; }

private:
	explicit recorder(output_file file) : file_(std::move(file)) {}
	void write(const std::string &line);

	output_file file_;
	std::vector<std::string> counters_; ///< "SOCKET EVENT", as begun with
	size_t snapshots_ = 0;
};

/// One that was read: only what is as it should be, whatever the file has.  Its
/// snapshots stay in the file, compressed ones in one that has no name.
class recording {
public:
	/// Which snapshots: from one on, each step-th, that many.
	struct part {
		size_t from = 0, step = 1, count = SIZE_MAX;
	};

	/// Errors: errc::system; errc::invalid for any other file.
	static uncore::result<recording> read(const std::string &path);

	/// With a "replay" that has the notices, how many snapshots there are
	/// and which part a browser can hold.
	const std::string &topology() const { return topology_; }
	size_t size() const { return lines_.size(); }
	const std::vector<std::string> &notices() const { return notices_; }
	part usual() const { return usual_; }
	/// A line each.  The recording has to outlive it.
	std::shared_ptr<http_source> snapshots(part which) const;

private:
	friend class recording_reader;
	friend class snapshot_source;

	/// Where a snapshot is in the file.
	struct line {
		uint64_t at;
		uint32_t size;
	};

	unique_fd file_;
	std::string topology_;
	std::vector<line> lines_;
	std::vector<std::string> notices_; ///< what is wrong with it
	part usual_;
};

} // namespace cli
