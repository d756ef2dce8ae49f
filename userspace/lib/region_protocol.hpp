// SPDX-License-Identifier: LGPL-2.1-or-later
// Protocol between the regions of a program (c/regions.cpp) and "uncore stat
// --regions", which counts for the program.  Each thread that begins a region
// connects to a Unix socket.  It sends a request, and waits for the reply: the
// command reads the counters between the two.  A socket of SOCK_SEQPACKET keeps
// the limits of messages.
//
// A request of begin is followed by the region's name, and by the CPUs on which
// the thread may run, as sched_getaffinity(2) has them.  No CPUs: the region
// counts on all sockets.  A reply is an int32_t of enum uncore_status.
#pragma once

#include <cstddef>
#include <cstdint>

namespace uncore {

/// Environment variable with the path of the command's socket.
inline constexpr const char *regions_variable = "UNCORE_REGIONS";

/// Maximum number of bytes of a region's name.
inline constexpr size_t longest_region = 255;
/// Maximum number of bytes of a CPU mask: 8,192 CPUs.
inline constexpr size_t longest_cpu_mask = 1024;

inline constexpr uint16_t region_protocol = 1;

enum class region_call : uint16_t { begin, end };

struct region_request {
	uint16_t protocol = region_protocol;
	region_call call{};
	uint32_t name_size = 0; ///< of begin
	/// Nanoseconds that the last request of the thread took, 0 before the
	/// first: the cost of a call.
	uint64_t took = 0;
};

} // namespace uncore
