// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers that uncore stat has saved as JSON.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include <uncore/error.hpp>

#include "counting/change.hpp"

namespace cli {

/// A number of an event or a metric.
struct saved_number {
	bool is_metric;
	std::string name;
	std::string scope; ///< "machine", "socket" or "box"
	int socket;	   ///< -1 for the machine
	std::string pmu;   ///< of a box
	std::string unit;
	measured_number number; ///< not a number for an unknown value
	std::string reason;	///< for an unknown or incomplete value

	/// Return the members that two files have in common for one number.
	auto key() const
	{
		return std::tie(is_metric, name, scope, socket, pmu, unit);
	}
};

struct saved_counts {
	std::string path;
	std::string host, generation, start;
	double seconds; ///< of a run
	unsigned runs;
	std::vector<saved_number> numbers;

	/// Read a file of uncore stat --save or --json; of several documents
	/// the last that is of the whole run. Errors: errc::system and
	/// errc::invalid; the message begins with the path.
	static uncore::result<saved_counts> read(const std::string &path);
};

} // namespace cli
