// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the bandwidth that the memory of each socket reaches (uncore diagnose
// --calibrate).  A program that moves as much memory as it can, a kernel of likwid-bench or
// stress-ng, runs on one socket after the other, and the counters of the memory channels
// say how much it moves: also what the program does not know of, such as the reads before
// writes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <uncore/counter_set.hpp>
#include <uncore/error.hpp>
#include <uncore/topology.hpp>

#include "counting/run.hpp"
#include "diagnosis/rules.hpp"

namespace cli {

/// A program with arguments that moves the memory of one socket.
struct stream_kernel {
	std::string name; ///< "likwid-bench load_avx"
	std::vector<std::string> command;
};

/// List the kernels for a socket: those of likwid-bench, or else one of stress-ng.
/// @param index the socket's place in topology::packages().
/// Errors: errc::not_found: neither program is installed.
uncore::result<std::vector<stream_kernel>>
stream_kernels(const std::filesystem::path &sysfs,
	       const uncore::topology &machine, size_t index);

/// What a socket's memory reached.
struct calibrated_socket {
	int socket = 0;
	double bytes_per_second = 0;
	double computed = 0; ///< peak that is computed from the clock, bytes a second
	std::string program = {};
};

class calibration {
public:
	/// @param rule whose metric of bandwidth is measured, of which the first
	/// other metric is the percentage; both live longer than this object.
	calibration(const std::filesystem::path &sysfs,
		    const uncore::topology &machine, const rule &measured)
		: sysfs_(sysfs), machine_(machine), rule_(measured)
	{
	}

	/// Measure each socket, with a line about each on standard error.
	/// @return an error: of counter_set, of stream_kernels(), or of a kernel
	/// that ended too soon or moved another socket's memory; or the status of a
	/// run that a signal ended.
	run_end run();
	const std::vector<calibrated_socket> &sockets() const
	{
		return sockets_;
	}

private:
	uncore::result<void> open(uncore::counter_set &counters) const;
	/// Measure what other programs move.
	uncore::result<void> measure_others();
	/// Measure a socket, and replace @p best if more was reached.
	run_end measure(const stream_kernel &kernel, calibrated_socket &best);

	const std::filesystem::path sysfs_;
	const uncore::topology &machine_;
	const rule &rule_;
	std::map<int, double> before_; ///< bytes a second of other programs, by socket
	std::vector<calibrated_socket> sockets_;
};

} // namespace cli
