// SPDX-License-Identifier: LGPL-2.1-or-later
// Reasons why the kernel refuses perf events or BPF programs to this process.
// Internal to the library and the command; not a part of the public interface.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace uncore {

/// Privileges and settings that the kernel checks before a process may count.
struct privileges {
	bool admin = false;   ///< CAP_SYS_ADMIN is effective
	bool perfmon = false; ///< CAP_PERFMON
	bool bpf = false;     ///< CAP_BPF
	/// The process is in a user namespace of its own, as in a rootless
	/// container: its capabilities do not count for the host.
	bool user_namespace = false;
	bool seccomp_filter = false;  ///< system calls are filtered
	bool confidentiality = false; ///< lockdown=confidentiality
	std::string paranoid; ///< kernel.perf_event_paranoid, "" for unknown

	/// Read the privileges of this process from @p proc and @p sys.
	static privileges read(const std::filesystem::path &proc = "/proc",
			       const std::filesystem::path &sys = "/sys");

	/// Check that the capabilities suffice for system-wide perf events.
	bool may_count() const;
	/// Check that the capabilities suffice for BPF programs.
	bool may_load_bpf() const;
};

/// Explain a failure of perf_event_open(), with the remedy.
/// @param number errno of the call, positive.
/// @return nothing if the error number has nothing to do with permissions.
std::optional<std::string> perf_refusal(const privileges &rights, int number);

/// Explain a failure of bpf(); parameters and result as for perf_refusal().
std::optional<std::string> bpf_refusal(const privileges &rights, int number);

} // namespace uncore
