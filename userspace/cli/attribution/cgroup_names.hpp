// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of cgroups by their ids.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cli {

/// Paths of cgroups by their id; asks the kernel for each one once.
class cgroup_names {
public:
	cgroup_names();
	const std::string &name(uint64_t id);

private:
	std::string mount_;
	std::map<uint64_t, std::string> names_;
};

} // namespace cli
