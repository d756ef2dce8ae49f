// SPDX-License-Identifier: GPL-2.0-or-later
// What the subcommands that load BPF programs share: among it, why a program does
// not load.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>

namespace cli {

/// For std::unique_ptr of what libbpf gives, with the function that takes it
/// back.
template <auto give_back> struct bpf_deleter {
	template <class T> void operator()(T *what) const { give_back(what); }
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
