// SPDX-License-Identifier: GPL-2.0-or-later
// What the subcommands that load BPF programs share.
#include "bpf_support.hpp"

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

namespace cli {

/// The first kernel with all that the programs use: bpf_loop().
static constexpr int needed_major = 5, needed_minor = 17;

static constexpr const char *type_information = "/sys/kernel/btf/vmlinux";

perf_event_attr attributes_of(const uncore::event &event)
{
	perf_event_attr attributes{};

	attributes.size = sizeof(attributes);
	attributes.type = event.type;
	attributes.config = event.config;
	attributes.config1 = event.config1;
	attributes.config2 = event.config2;
	attributes.exclude_user = event.exclude_user;
	attributes.exclude_kernel = event.exclude_kernel;
	attributes.exclude_hv = event.exclude_hv;
	attributes.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attributes;
}

bool counts_events(int cpu)
{
	perf_event_attr attributes{};

	attributes.size = sizeof(attributes);
	attributes.type = PERF_TYPE_SOFTWARE;
	attributes.config = PERF_COUNT_SW_DUMMY;
	attributes.disabled = 1;

	unique_fd fd(syscall(SYS_perf_event_open, &attributes, -1, cpu, -1,
			     PERF_FLAG_FD_CLOEXEC));
	return fd || errno != ENODEV;
}

static uncore::error open_failure(const uncore::event &event, int cpu,
				  int error)
{
	const std::string &what = event.text;

	switch (error) {
	case EACCES:
	case EPERM:
		return {uncore::errc::permission,
			what + ": not permitted; this needs root or "
			       "CAP_PERFMON"};
	case ENODEV:
		return {uncore::errc::gone,
			counts_events(cpu)
				? what + ": the box does not answer"
				: fmt::format("{}: CPU {} is offline", what,
					      cpu)};
	case ENOENT:
	case EOPNOTSUPP:
		return {uncore::errc::unsupported,
			what + ": this machine cannot count that"};
	case EINVAL:
		return {uncore::errc::invalid,
			what + ": the driver refuses this event"};
	case EMFILE:
		return {uncore::errc::system,
			what + ": too many open files; raise ulimit -n"};
	default:
		return {uncore::errc::system,
			fmt::format("{}: {}", what, std::strerror(error))};
	}
}

uncore::result<unique_fd> open_event(const uncore::event &event,
				     perf_event_attr attributes, int cpu)
{
	long fd = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return open_failure(event, cpu, errno);
	return unique_fd(static_cast<int>(fd));
}

uncore::result<reading> read_event(int fd)
{
	reading r;
	ssize_t n = read(fd, &r, sizeof(r));

	if (n < 0)
		return uncore::error{uncore::errc::system,
				     fmt::format("reading an event: {}",
						 std::strerror(errno))};
	if (n != sizeof(r))
		return uncore::error{uncore::errc::not_found,
				     "the event has no counter"};
	return r;
}

uncore::result<void> check_bpf()
{
	utsname name{};
	int major = 0, minor = 0;

	uname(&name);
	if (std::sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
	    (major < needed_major ||
	     (major == needed_major && minor < needed_minor)))
		return uncore::error{
			uncore::errc::unsupported,
			fmt::format("kernel {} is too old for this: it takes "
				    "{}.{} or later",
				    name.release, needed_major, needed_minor)};
	if (access(type_information, R_OK))
		return uncore::error{
			uncore::errc::unsupported,
			fmt::format("{}: {}; this needs a kernel with "
				    "CONFIG_DEBUG_INFO_BTF",
				    type_information, std::strerror(errno))};
	return {};
}

/// The last messages that libbpf had for us.
static std::string messages;

static int keep_message(enum libbpf_print_level level, const char *format,
			va_list arguments)
{
	std::array<char, 512> text;

	std::vsnprintf(text.data(), text.size(), format, arguments);
	if (std::getenv("UNCORE_DEBUG"))
		std::fputs(text.data(), stderr);
	if (level == LIBBPF_WARN)
		messages = text.data();
	return 0;
}

void capture_bpf_messages()
{
	libbpf_set_print(keep_message);
}

uncore::error bpf_failure(std::string_view what, int error)
{
	std::string line = messages.substr(0, messages.find('\n'));

	if (error == -EPERM || error == -EACCES) {
		if (geteuid())
			return {uncore::errc::permission,
				fmt::format("{}: not permitted; this needs "
					    "root, or CAP_BPF and CAP_PERFMON",
					    what)};
		return {uncore::errc::permission,
			fmt::format("{}: not permitted; this needs CAP_BPF and "
				    "CAP_PERFMON, which even root lacks here",
				    what)};
	}
	return {uncore::errc::unsupported,
		fmt::format("{}: {}{}{}", what, std::strerror(-error),
			    line.empty() ? "" : "; ", line)};
}

std::vector<int> online_cpus()
{
	std::ifstream file("/sys/devices/system/cpu/online");
	std::vector<int> cpus;
	int first, last;
	char mark = ',';

	while (mark == ',' && file >> first) {
		last = first;
		if (file.peek() == '-') {
			file.get();
			file >> last;
		}
		for (; first <= last; first++)
			cpus.push_back(first);
		if (!file.get(mark))
			break;
	}
	return cpus;
}

} // namespace cli
