// SPDX-License-Identifier: GPL-2.0-or-later
// The samples of a file by event, and how many counts each of them stands for.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <uncore/topology.hpp>

#include "perfdata/perf_reader.hpp"

namespace cli {

/// An event, summed over the boxes that it was opened on.  Counts of different
/// events cannot be added.
struct profile_event {
	std::string name; ///< fit to be printed
	std::vector<const file_sample *> samples;
	long double counts = 0;
	std::set<int> cpus; ///< CPUs that have samples
};

class profile {
public:
	/// @p machine says which CPU is of which socket where the file does
	/// not; it may be nullptr.
	profile(const perf_file &file, const uncore::topology *machine);

	/// Events that have samples, in the order of the file.
	const std::vector<profile_event> &events() const { return events_; }
	/// The counts that a sample stands for: its period, or a part of it
	/// where several CPUs of a socket have samples of the same counts.
	long double counts_of(const file_sample &sample) const;
	/// The socket of a CPU of the recorded machine, or -1.
	int socket_of(uint32_t cpu) const;
	/// "" where the file does not have it.
	std::string pmu_of(const file_event &event) const;

private:
	bool is_uncore(const file_event &event) const;
	std::string without_box(const file_event &event) const;
	void find_weights();

	const perf_file &file_;
	const uncore::topology *machine_;
	std::vector<profile_event> events_;
	/// By event of the file and socket; 1 for those that are missing.
	std::map<std::pair<size_t, int>, long double> weights_;
};

} // namespace cli
