// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that were made at run time, as the program that made them lists
// them in /tmp/perf-PID.map (the kernel's
// tools/perf/Documentation/jit-interface.txt).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <uncore/error.hpp>

namespace cli {

class perf_map {
public:
	/// The largest file that is read; those of large Java programs have
	/// some 10 MiB.
	static constexpr size_t max_size = size_t{64} << 20;

	/// Read a map.  Another user's would name functions of root's programs:
	/// the owner must be root, the caller or @p owner, the process's user.
	/// Lines that are not ADDRESS SIZE NAME are skipped.
	/// Errors: errc::permission, errc::invalid (too large), errc::system.
	static uncore::result<perf_map> read(int fd, uid_t owner);

	perf_map() = default;
	perf_map(perf_map &&) = default;
	perf_map &operator=(perf_map &&) = default;

	/// The function that @p address is in, or empty.
	std::string_view find(uint64_t address) const;

private:
	struct function {
		uint64_t start, size;
		std::string_view name;
	};

	/// Names are parts of it; they stay when this object moves.
	std::vector<char> text_;
	std::vector<function> functions_;
};

} // namespace cli
