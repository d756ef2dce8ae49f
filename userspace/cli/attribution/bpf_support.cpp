// SPDX-License-Identifier: GPL-2.0-or-later
// Functions for subcommands that load BPF programs.
#include "attribution/bpf_support.hpp"

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include "refusal.hpp"

namespace cli {

static constexpr const char *type_information = "/sys/kernel/btf/vmlinux";

uncore::result<void> check_bpf(std::span<const bpf_need> needs)
{
	// Probe each helper instead of comparing the kernel's version:
	// distributions backport helpers to older versions.
	for (const bpf_need &need : needs)
		if (!libbpf_probe_bpf_helper(need.program, need.helper,
					     nullptr))
			return uncore::error{
				uncore::errc::unsupported,
				fmt::format(
					"this kernel has no {} for BPF programs: use Linux {} or later",
					need.name, need.since)};
	if (access(type_information, R_OK))
		return uncore::error{
			uncore::errc::unsupported,
			fmt::format(
				"{}: {}; this needs a kernel with CONFIG_DEBUG_INFO_BTF",
				type_information, std::strerror(errno))};
	return {};
}

/// The last warning of libbpf.
static std::string messages;

/// Callback of libbpf for its messages.
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

uncore::error bpf_failure(std::string_view action, int error)
{
	std::string line = messages.substr(0, messages.find('\n'));

	if (const auto reason =
		    uncore::bpf_refusal(uncore::privileges::read(), -error))
		return {uncore::errc::permission,
			fmt::format("{}: not permitted: {}", action, *reason)};
	return {uncore::errc::unsupported,
		fmt::format("{}: {}{}{}", action, std::strerror(-error),
			    line.empty() ? "" : "; ", line)};
}

uint32_t controller_place(const std::string &name)
{
	const std::unique_ptr<btf, bpf_deleter<btf__free>> types(
		btf__load_vmlinux_btf());

	if (!types || name.empty())
		return 0;

	const btf_type *enumeration = btf__type_by_id(
		types.get(),
		btf__find_by_name_kind(types.get(), "cgroup_subsys_id",
				       BTF_KIND_ENUM));

	if (!enumeration || !btf_is_enum(enumeration))
		return 0;
	for (unsigned i = 0; i < btf_vlen(enumeration); i++) {
		const struct btf_enum *enumerator = btf_enum(enumeration) + i;

		if (name + "_cgrp_id" ==
		    btf__name_by_offset(types.get(), enumerator->name_off))
			return enumerator->val + 1;
	}
	return 0;
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
