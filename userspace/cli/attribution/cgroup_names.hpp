// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of cgroups by their ids.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <string_view>

namespace cli {

/// Where cgroups are mounted.
struct cgroup_mount {
	std::string folder; ///< empty where none are
	/// Whose hierarchy it is, of version 1: "memory"; empty for version 2.
	std::string controller;

	bool operator==(const cgroup_mount &) const = default;
};

/// The mount that tells containers apart, of /proc/self/mountinfo: a hierarchy
/// of version 1 where there is one, as runtimes use version 2 only without.  Of
/// several, as in a container, the host's.
cgroup_mount find_cgroups(std::istream &mounts);
/// Of this machine.
cgroup_mount find_cgroups();

/// Paths of cgroups by their id; asks the kernel for each one once.
class cgroup_names {
public:
	cgroup_names() : mount_(find_cgroups().folder) {}
	const std::string &name(uint64_t id);

	/// Is there a file system that has them?
	bool are_there() const { return !mount_.empty(); }
	/// The path of a cgroup as users write it: also without the first
	/// slash, or with the folder of the mount.
	std::string path_of(std::string_view written) const;
	/// Is there a cgroup of that path now?
	bool exists(const std::string &path) const;
	/// The path alone, not remembered; empty when it was removed.
	std::string path(uint64_t id);
	/// To be called before others are asked for, a while later.
	void forget() { all_.clear(); }

private:
	std::string mount_;
	/// Of those that may not be opened by their id, which wants
	/// CAP_DAC_READ_SEARCH.
	std::map<uint64_t, std::string> all_;
	std::map<uint64_t, std::string> names_;
};

} // namespace cli
