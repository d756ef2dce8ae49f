// SPDX-License-Identifier: GPL-2.0-or-later
// What the subcommands that load BPF programs share: among it, why a program
// does not load.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <linux/bpf.h>

#include <uncore/error.hpp>

namespace cli {

/// For std::unique_ptr of what libbpf gives, with the function that takes it
/// back.
template <auto give_back> struct bpf_deleter {
	template <class T> void operator()(T *what) const { give_back(what); }
};

/// A function of the kernel that a program calls.
struct bpf_need {
	bpf_prog_type program;
	bpf_func_id helper;
	const char *name, *since; ///< for the message
};

/// Check, before programs are loaded, that the kernel has type information and
/// these functions, by asking it for them.
/// Errors: errc::unsupported.
uncore::result<void> check_bpf(std::span<const bpf_need> needs);

/// Why libbpf's call failed, @p error being a negative errno.
uncore::error bpf_failure(std::string_view what, int error);

/// Keeps libbpf's messages for bpf_failure() instead of printing them;
/// with UNCORE_DEBUG in the environment they are printed.
void capture_bpf_messages();

/// A cgroup controller's place in the kernel's lists, from 1 on; 0 for none,
/// and where that is not known.
uint32_t controller_place(const std::string &name);

/// CPUs that are online, ascending, from sysfs.
std::vector<int> online_cpus();

} // namespace cli
