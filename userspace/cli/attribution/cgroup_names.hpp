// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of cgroups by their ids.
#pragma once

#include <chrono>
#include <cstdint>
#include <istream>
#include <map>
#include <optional>
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

/// Does a cgroup's path name @p ancestor, or a cgroup in it?
bool is_within(std::string_view path, std::string_view ancestor);

/// Paths of cgroups by their id; asks the kernel for each one once.  Where
/// cgroups may not be opened by their id, which wants CAP_DAC_READ_SEARCH, the
/// tree is read for ids that are new, at most once a second.
class cgroup_names {
public:
	cgroup_names() : mount_(find_cgroups().folder) {}
	/// The path, or "cgroup 23" where it is not known.
	std::string name(uint64_t id);

	/// Is there a file system that has them?
	bool are_there() const { return !mount_.empty(); }
	/// The path of a cgroup as users write it: also without the first
	/// slash, or with the folder of the mount.
	std::string path_of(std::string_view written) const;
	/// Is there a cgroup of that path now?
	bool exists(const std::string &path) const;
	/// Remember the paths of a cgroup and of the cgroups in it, so that
	/// path() has the paths after the cgroups are removed.
	void remember(const std::string &path);
	/// The path alone; empty when the cgroup was removed before it was
	/// asked for.
	const std::string &path(uint64_t id);
	/// How many are remembered.
	size_t size() const { return known_.size(); }

private:
	using clock = std::chrono::steady_clock;

	struct known {
		/// Empty where there is no such cgroup: ids are not reused.
		std::string path;
		std::string name; ///< the path, or "cgroup 23"
		clock::time_point used;
	};

	const known &find(uint64_t id);
	std::optional<std::string> look_up(uint64_t id);
	void make_room();

	std::string mount_;
	std::map<uint64_t, known> known_;
	/// The tree as it was last read, for ids that are asked for next.
	std::map<uint64_t, std::string> tree_;
	std::optional<clock::time_point> tree_read_at_;
};

} // namespace cli
