// SPDX-License-Identifier: LGPL-2.1-or-later
// Why the kernel refuses perf events or BPF programs to this process.  Not a
// part of the public interface; the command uses it as well.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace uncore {

/// What the kernel looks at when a process wants to count.
struct privileges {
	bool admin = false;	      ///< CAP_SYS_ADMIN is effective
	bool perfmon = false;	      ///< CAP_PERFMON
	bool bpf = false;	      ///< CAP_BPF
	bool user_namespace = false;  ///< where capabilities are not the host's
	bool seccomp_filter = false;  ///< system calls are filtered
	bool confidentiality = false; ///< lockdown=confidentiality
	std::string paranoid; ///< kernel.perf_event_paranoid, "" for unknown

	/// Of this process, as @p proc and @p sys show it.
	static privileges read(const std::filesystem::path &proc = "/proc",
			       const std::filesystem::path &sys = "/sys");

	/// Whether the capabilities suffice for system-wide perf events.
	bool may_count() const;
	/// Whether they suffice for BPF programs.
	bool may_load_bpf() const;
};

/// The cause for which perf_event_open() failed, and its remedy; nothing for an
/// errno that is not about permission.
std::optional<std::string> perf_refusal(const privileges &of, int number);

/// The same for bpf().
std::optional<std::string> bpf_refusal(const privileges &of, int number);

} // namespace uncore
