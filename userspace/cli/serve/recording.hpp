// SPDX-License-Identifier: GPL-2.0-or-later
// Reads recordings of the die map, which uncore record --series writes: the description of
// a machine, and a snapshot of its counts for each second.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <uncore/error.hpp>

#include "http/server.hpp"
#include "process/unique_fd.hpp"

namespace cli {

/// A recording that was read and checked; invalid lines of the file are left out.
/// Recordings may be large: the snapshots stay in the file, and only their offsets are in
/// memory.  A compressed recording is first unpacked into a file without a name.
class recording {
public:
	/// Range of snapshots: first index, step, and number.
	struct part {
		size_t from = 0, step = 1, count = SIZE_MAX;
	};

	/// Read a recording.  Errors: errc::system; errc::invalid for any other
	/// file.
	static uncore::result<recording> read(const std::string &path);

	/// Return the description of the machine.  Its member "replay" has the
	/// notices, the number of snapshots, and the range that a browser can
	/// hold.
	const std::string &topology() const { return topology_; }
	size_t size() const { return lines_.size(); }
	const std::vector<std::string> &notices() const { return notices_; }
	/// Return the range that a browser can hold.
	part usual() const { return usual_; }
	/// Return a source of the snapshots of a range, a line each.  The
	/// recording must outlive the source.
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
	std::vector<std::string> notices_; ///< faults of the recording, for users
	part usual_;
};

} // namespace cli
