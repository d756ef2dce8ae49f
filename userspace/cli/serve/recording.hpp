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
