// SPDX-License-Identifier: LGPL-2.1-or-later
// From an event to what perf_event_open() takes, and from its error numbers to
// words.
#include "perf_attr.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sys/resource.h>

#include <fmt/format.h>

namespace uncore {

perf_event_attr attr_of(const event &wanted)
{
	perf_event_attr attr{};

	attr.size = sizeof(attr);
	attr.type = wanted.type;
	attr.config = wanted.config;
	attr.config1 = wanted.config1;
	attr.config2 = wanted.config2;
	attr.exclude_user = wanted.exclude_user;
	attr.exclude_kernel = wanted.exclude_kernel;
	attr.exclude_hv = wanted.exclude_hv;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_GROUP;
	return attr;
}

static error no_permission(const event &wanted)
{
	int level = -2;

	std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level;
	return {errc::permission,
		fmt::format("no permission to count {}: run as root, grant "
			    "CAP_PERFMON, or set kernel.perf_event_paranoid to "
			    "0 (it is {})",
			    wanted.text, level)};
}

error open_error(int number, const event &wanted, bool in_group)
{
	const char *pmu = wanted.pmu ? wanted.pmu->name.c_str() : "the core";

	switch (number) {
	case EACCES:
	case EPERM:
		return no_permission(wanted);
	case EINVAL:
		if (in_group)
			return {errc::conflict,
				fmt::format("{} cannot be counted at once with "
					    "the other events of its group",
					    wanted.text)};
		return {errc::invalid,
			fmt::format("{} does not take {}", pmu, wanted.text)};
	case EMFILE:
	case ENFILE:
		return {errc::system,
			fmt::format("too many open files at {}: raise ulimit "
				    "-n",
				    wanted.text)};
	case ENODEV:
	case ENXIO:
		return {errc::gone,
			fmt::format("{}: its CPU is offline or its device is "
				    "gone",
				    wanted.text)};
	case ENOENT:
	case EOPNOTSUPP:
		return {errc::unsupported,
			fmt::format("this machine does not count {}",
				    wanted.text)};
	default:
		return {errc::system, fmt::format("opening {}: {}", wanted.text,
						  std::strerror(number))};
	}
}

void raise_descriptor_limit()
{
	rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) &&
	    limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

} // namespace uncore
