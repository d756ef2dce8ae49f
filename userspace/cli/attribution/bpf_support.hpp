// SPDX-License-Identifier: GPL-2.0-or-later
// What the subcommands that load BPF programs share: an event that is open for
// such programs, and why a program does not load.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/event.hpp>

#include "perf_events.hpp"

namespace cli {

/// For std::unique_ptr of what libbpf gives, with the function that takes it
/// back.
template <auto give_back> struct bpf_deleter {
	template <class T> void operator()(T *what) const { give_back(what); }
};

/// An event that is open on one CPU, for the programs to read.
class cpu_event {
public:
	/// Errors: as of uncore::perf_events.
	static uncore::result<cpu_event> open(const uncore::event &event,
					      const perf_event_attr &attributes,
					      int cpu);

	int fd() const { return opened_.fd(0, 0); }
	uncore::result<uncore::reading> read() const
	{
		return opened_.read(0, 0);
	}

private:
	uncore::perf_events opened_;
};

/// Can BPF programs be loaded here?  Looks at what can be known before: the
/// kernel's version and its type information.
uncore::result<void> check_bpf();

/// Why libbpf's call failed, @p error being a negative errno.
uncore::error bpf_failure(std::string_view what, int error);

/// Keeps libbpf's messages for bpf_failure() instead of printing them;
/// with UNCORE_DEBUG in the environment they are printed.
void capture_bpf_messages();

/// CPUs that are online, ascending, from sysfs.
std::vector<int> online_cpus();

} // namespace cli
