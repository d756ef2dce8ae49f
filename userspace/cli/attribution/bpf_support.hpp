// SPDX-License-Identifier: GPL-2.0-or-later
// Functions for subcommands that load BPF programs, such as the reason why a
// program does not load.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <linux/bpf.h>

#include <uncore/error.hpp>

namespace cli {

/// The deleter of a std::unique_ptr to an object of libbpf; @p release is the
/// function of libbpf that frees the object.
template <auto release> struct bpf_deleter {
	template <class T> void operator()(T *object) const { release(object); }
};

/// A helper of the kernel that a program calls.
struct bpf_need {
	bpf_prog_type program;
	bpf_func_id helper;
	const char *name, *since; ///< for the message
};

/// Check, before programs are loaded, that the kernel has type information and
/// the helpers, by probing each helper.
/// Errors: errc::unsupported.
uncore::result<void> check_bpf(std::span<const bpf_need> needs);

/// Describe a failed call of libbpf.  @p error is a negative errno.
uncore::error bpf_failure(std::string_view action, int error);

/// Keep libbpf's messages for bpf_failure() instead of printing them.  With
/// UNCORE_DEBUG in the environment, print the messages as well.
void capture_bpf_messages();

/// Look up the place of a cgroup controller such as "memory" in the kernel's arrays
/// of controllers, which depends on the kernel's configuration.
/// @return 1 + the place; 0 for no controller or an unknown place.
uint32_t controller_place(const std::string &name);

/// Read the online CPUs from sysfs, in ascending order.
std::vector<int> online_cpus();

} // namespace cli
