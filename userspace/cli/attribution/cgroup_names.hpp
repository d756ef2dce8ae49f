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

/// A mount of a hierarchy of cgroups.
struct cgroup_mount {
	std::string folder; ///< empty without a mount
	/// Controller of a hierarchy of version 1: "memory"; empty for
	/// version 2.
	std::string controller;

	bool operator==(const cgroup_mount &) const = default;
};

/// Find the mount that tells containers apart, in /proc/self/mountinfo.
/// Prefer a hierarchy of version 1: runtimes use version 2 only without version
/// 1.  Of several mounts, as in a container, prefer the host's.
cgroup_mount find_cgroups(std::istream &mounts);
/// Find the mount on this machine.
cgroup_mount find_cgroups();

/// Is a cgroup's path the path of @p ancestor, or of a descendant?
bool is_within(std::string_view path, std::string_view ancestor);

/// Paths of cgroups by id; asks the kernel once for each cgroup.  Opening a
/// cgroup by its id needs CAP_DAC_READ_SEARCH.  Without the capability, new ids
/// cause a read of the tree, at most once a second.
class cgroup_names {
public:
	cgroup_names() : mount_(find_cgroups().folder) {}
	/// Get the path, or "cgroup 23" for an unknown path.
	std::string name(uint64_t id);

	/// Is a file system of cgroups mounted?
	bool are_there() const { return !mount_.empty(); }
	/// Get the path of a cgroup from a user's text: also without the first
	/// slash, or with the folder of the mount.
	std::string path_of(std::string_view written) const;
	/// Does a cgroup have the path now?
	bool exists(const std::string &path) const;
	/// Record the paths of a cgroup and its descendants, so that path() has
	/// the paths after the cgroups are removed.
	void remember(const std::string &path);
	/// Get the path alone; empty when the cgroup was removed before the
	/// first call.
	const std::string &path(uint64_t id);
	/// Number of recorded paths.
	size_t size() const { return records_.size(); }

private:
	using clock = std::chrono::steady_clock;

	struct record {
		/// Empty without such a cgroup: ids are not reused.
		std::string path;
		std::string name; ///< the path, or "cgroup 23"
		clock::time_point used;
	};

	const record &find(uint64_t id);
	std::optional<std::string> look_up(uint64_t id);
	void make_room();

	std::string mount_;
	std::map<uint64_t, record> records_;
	/// Paths at the last read of the tree, for lookups of further ids.
	std::map<uint64_t, std::string> tree_;
	std::optional<clock::time_point> tree_read_at_;
};

} // namespace cli
