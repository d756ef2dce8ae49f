// SPDX-License-Identifier: GPL-2.0-or-later
// Bandwidth that the memory of each socket was measured to reach, by uncore diagnose
// --calibrate.  A file keeps it for each host, so that hosts may share a home folder.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

namespace cli {

class memory_peaks {
public:
	/// Read the peaks of this host: of the user's file, or else of
	/// /var/lib/uncore/memory-peaks.json.
	/// @return empty if nothing was measured on this host.  Peaks of another
	/// machine, or a file that cannot be used, are left out: see problems().
	static memory_peaks read(const uncore::topology &machine);
	/// Check whether keep() can keep peaks.  Errors: those of keep().
	static uncore::result<void> check_keeping();
	/// Keep the peaks of a host, in place of former ones: for root in /var/lib/uncore, for
	/// other users in ~/.local/state/uncore.
	/// @param document what uncore diagnose --calibrate --json prints.
	/// @return the file's path.  Errors: errc::system; errc::invalid if there is
	/// a file that read() cannot use, which is left alone.
	static uncore::result<std::string>
	keep(const nlohmann::ordered_json &document);

	/// Return the peak of a socket in bytes a second, if it is known.
	std::optional<double> of(int socket) const;
	/// Check that the peak of each socket is known.
	bool is_complete(const uncore::topology &machine) const;
	/// Lines for the user: file, cause and remedy.
	const std::vector<std::string> &problems() const { return problems_; }

private:
	std::map<int, double> sockets_; ///< peaks in bytes a second
	std::vector<std::string> problems_;
};

} // namespace cli
