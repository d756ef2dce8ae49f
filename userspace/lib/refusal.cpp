// SPDX-License-Identifier: LGPL-2.1-or-later
// Find the cause of a refused perf_event_open() or bpf() from the error number
// and the privileges of the process.  Several causes share an error number, so
// the order of the checks matters.
#include "refusal.hpp"

#include <cerrno>
#include <fstream>

#include <linux/capability.h>

#include "format.hpp"
#include "sysfs.hpp"
#include "text.hpp"

/* The headers of older kernels lack these capabilities. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

namespace uncore {

namespace fs = std::filesystem;

/// Read the capabilities and the seccomp mode from /proc/self/status.
static void read_status(const fs::path &file, privileges &rights)
{
	std::ifstream in(file);
	std::string line;

	while (std::getline(in, line)) {
		const auto [key, value] = cut(line, ':');

		if (key == "CapEff") {
			const uint64_t set = parse_hex(trim(value)).value_or(0);

			rights.admin = set >> CAP_SYS_ADMIN & 1;
			rights.perfmon = set >> CAP_PERFMON & 1;
			rights.bpf = set >> CAP_BPF & 1;
		} else if (key == "Seccomp") {
			// SECCOMP_MODE_FILTER
			rights.seccomp_filter = trim(value) == "2";
		}
	}
}

/// Check whether the process is in the host's user namespace, the first one.
/// It maps all user IDs to themselves: "0 0 4294967295" in uid_map.  An
/// unreadable file counts as the first namespace.
static bool is_first_namespace(const fs::path &uid_map)
{
	std::ifstream in(uid_map);
	uint64_t inside = 0, outside = 0, count = 0;

	return !(in >> inside >> outside >> count) ||
	       (!inside && !outside && count == UINT32_MAX);
}

privileges privileges::read(const fs::path &proc, const fs::path &sys)
{
	privileges rights;

	read_status(proc / "self/status", rights);
	rights.user_namespace = !is_first_namespace(proc / "self/uid_map");
	rights.paranoid =
		read_text(proc / "sys/kernel/perf_event_paranoid").value_or("");
	rights.confidentiality =
		read_text(sys / "kernel/security/lockdown")
			.value_or("")
			.find("[confidentiality]") != std::string::npos;
	return rights;
}

bool privileges::may_count() const
{
	// CAP_PERFMON is not enough at levels 3 and 4, which Debian and Ubuntu
	// have added.
	return admin || (perfmon && paranoid != "3" && paranoid != "4");
}

bool privileges::may_load_bpf() const
{
	return admin || (perfmon && bpf);
}

/// Explain a refusal by a seccomp filter, which answers ENOSYS or EPERM.
static std::string filter_refusal(const char *call)
{
	return uncore::format(
		"a seccomp filter refuses {}, as in a container: docker and podman allow it with --cap-add PERFMON,BPF or --security-opt seccomp=unconfined",
		call);
}

static const char *namespace_refusal =
	"capabilities of a user namespace, as of a rootless container, do not count for the whole machine: run it outside as root, or as a user with CAP_PERFMON";

std::optional<std::string> perf_refusal(const privileges &rights, int number)
{
	const std::string level =
		rights.paranoid.empty() ? "unknown" : rights.paranoid;

	if (number == ENOSYS)
		return rights.seccomp_filter
			       ? filter_refusal("perf_event_open()")
			       : "this kernel has no perf events: use one with CONFIG_PERF_EVENTS=y";
	if (number != EACCES && number != EPERM)
		return std::nullopt;
	// perf_event_open() returns EACCES for missing capabilities.  So EPERM
	// comes from a seccomp filter or from lockdown, if either is active.
	if (number == EPERM && rights.seccomp_filter)
		return filter_refusal("perf_event_open()");
	if (number == EPERM && rights.confidentiality)
		return "kernel lockdown refuses it: boot with lockdown=integrity or none";
	if (rights.user_namespace)
		return namespace_refusal;
	if (rights.may_count())
		return "a security module (SELinux, AppArmor) refuses it, though this user has the capabilities: see its log";
	if (level == "3" || level == "4")
		return uncore::format(
			"run as root, or set kernel.perf_event_paranoid to 0, or to 2 and grant CAP_PERFMON (it is {}, where that may be refused, too)",
			level);
	return uncore::format(
		"run as root, grant CAP_PERFMON, or set kernel.perf_event_paranoid to 0 (it is {})",
		level);
}

std::optional<std::string> bpf_refusal(const privileges &rights, int number)
{
	if (number == ENOSYS)
		return rights.seccomp_filter
			       ? filter_refusal("bpf()")
			       : "this kernel has no BPF: use one with CONFIG_BPF_SYSCALL=y";
	if (number != EACCES && number != EPERM)
		return std::nullopt;
	// bpf() returns EPERM for missing capabilities as well.  Only a process
	// that has the capabilities was refused for another reason.
	if (rights.user_namespace)
		return namespace_refusal;
	if (rights.may_load_bpf() && rights.seccomp_filter)
		return filter_refusal("bpf()");
	if (rights.may_load_bpf() && rights.confidentiality)
		return "kernel lockdown refuses it: boot with lockdown=integrity or none";
	if (rights.may_load_bpf())
		return "a security module refuses it, though this user has the capabilities: see its log";
	return "this needs root, or CAP_BPF and CAP_PERFMON";
}

} // namespace uncore
