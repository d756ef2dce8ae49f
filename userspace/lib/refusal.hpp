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
	bool admin = false;	      ///< CAP_SYS_ADMIN is effective
	bool perfmon = false;	      ///< CAP_PERFMON
	bool bpf = false;	      ///< CAP_BPF
	bool user_namespace = false;  ///< its capabilities are not the host's
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

/// Explain a failure of perf_event_open(), with the remedy; nothing for an
/// errno that is not about permission.
std::optional<std::string> perf_refusal(const privileges &rights, int number);

/// Explain a failure of bpf() likewise.
std::optional<std::string> bpf_refusal(const privileges &rights, int number);

} // namespace uncore
