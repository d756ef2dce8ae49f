// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings of the die map, as uncore record --series writes them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <uncore/error.hpp>

#include "http/server.hpp"
#include "process/unique_fd.hpp"

namespace cli {

/// Recording that was read and checked: invalid parts of the file are dropped.
/// The snapshots stay in the file; a compressed recording is unpacked into a
/// file without a name.
class recording {
public:
	/// Range of snapshots: first index, step, and number.
	struct part {
		size_t from = 0, step = 1, count = SIZE_MAX;
	};

	/// Read a recording.  Errors: errc::system; errc::invalid for any other
	/// file.
	static uncore::result<recording> read(const std::string &path);

	/// Return the machine's document.  Its "replay" has the notices, the
	/// number of snapshots, and the range that a browser can hold.
	const std::string &topology() const { return topology_; }
	size_t size() const { return lines_.size(); }
	const std::vector<std::string> &notices() const { return notices_; }
	part usual() const { return usual_; }
	/// Return a source of snapshots, a line each.  The recording has to
	/// outlive the source.
	std::shared_ptr<http_source> snapshots(part range) const;

private:
	friend class recording_reader;
	friend class snapshot_source;

	/// Place of a snapshot in the file.
	struct line {
		uint64_t offset;
		uint32_t size;
	};

	unique_fd file_;
	std::string topology_;
	std::vector<line> lines_;
	std::vector<std::string> notices_; ///< faults of the recording
	part usual_;
};

} // namespace cli
