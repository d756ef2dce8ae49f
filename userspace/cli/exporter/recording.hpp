// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings of the die map: a document a line, so that a recording which is
// cut short is still one (Documentation/die-map.rst).
#pragma once

#include <string>
#include <vector>

#include <uncore/error.hpp>

#include "exporter/collector.hpp"
#include "exporter/limits.hpp"
#include "process/output_file.hpp"

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
	limit_uses uses_;
	std::vector<std::string> counters_; ///< "SOCKET EVENT", as begun with
	size_t snapshots_ = 0;
};

} // namespace cli
