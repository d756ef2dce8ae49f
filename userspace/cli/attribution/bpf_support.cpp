// SPDX-License-Identifier: GPL-2.0-or-later
// What the subcommands that load BPF programs share.
#include "attribution/bpf_support.hpp"

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "refusal.hpp"

namespace cli {

/// The first kernel with all that the programs use: bpf_loop().
static constexpr int needed_major = 5, needed_minor = 17;

static constexpr const char *type_information = "/sys/kernel/btf/vmlinux";

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
	if (secure_getenv("UNCORE_DEBUG"))
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

	if (const auto why =
		    uncore::bpf_refusal(uncore::privileges::read(), -error))
		return {uncore::errc::permission,
			fmt::format("{}: not permitted: {}", what, *why)};
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
