// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that were made at run time, as the program that made them lists
// them in /tmp/perf-PID.map (the kernel's
// tools/perf/Documentation/jit-interface.txt).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

class perf_map {
public:
	/// Lines that are none are left out.
	static perf_map read(int fd);

	/// The function that @p address is in, or empty.
	std::string_view find(uint64_t address) const;

private:
	struct function {
		uint64_t start, size;
		std::string name;
	};

	std::vector<function> functions_;
};

} // namespace cli
