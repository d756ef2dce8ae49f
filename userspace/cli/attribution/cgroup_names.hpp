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

/// A mount of a hierarchy of cgroups.  Version 2 has one hierarchy, version 1 has one
/// for each controller.
struct cgroup_mount {
	std::string folder; ///< empty without a mount
	/// Controller of a version 1 hierarchy, such as "memory"; empty for
	/// version 2.
	std::string controller;

	bool operator==(const cgroup_mount &) const = default;
};

/// Find the mount in whose hierarchy each container has its own cgroup.
/// Prefer version 1: container runtimes use version 2 only where there is no version
/// 1.  Of several mounts of a hierarchy, as in a container, prefer the host's.
/// @param mounts lines of /proc/self/mountinfo.
cgroup_mount find_cgroups(std::istream &mounts);
/// Find the mount in /proc/self/mountinfo.
cgroup_mount find_cgroups();

/// Is @p path the path of the cgroup @p ancestor or of a cgroup below it?
bool is_within(std::string_view path, std::string_view ancestor);

/// Paths of cgroups by id.  A path that was found is recorded, so that the kernel is
/// asked once for each cgroup.  Opening a cgroup by its id needs CAP_DAC_READ_SEARCH.
/// Without the capability, an unknown id causes a read of the whole tree, at most once
/// a second.
class cgroup_names {
public:
	cgroup_names() : mount_(find_cgroups().folder) {}
	/// Get the path of a cgroup, or "cgroup 23" if the path is not known.
	std::string name(uint64_t id);

	/// Is a file system of cgroups mounted?
	bool are_there() const { return !mount_.empty(); }
	/// Get the path of a cgroup that a user wrote in any of the forms
	/// "/system.slice", "system.slice" and "/sys/fs/cgroup/system.slice".
	std::string path_of(std::string_view written) const;
	/// Does a cgroup have the path now?
	bool exists(const std::string &path) const;
	/// Record the paths of a cgroup and its descendants, so that path() has
	/// the paths after the cgroups are removed.
	void remember(const std::string &path);
	/// Get the path of a cgroup; empty if the path is not known yet, or if
	/// the cgroup was removed before the first call.
	const std::string &path(uint64_t id);
	/// Number of recorded paths.
	size_t size() const { return records_.size(); }

private:
	using clock = std::chrono::steady_clock;

	struct record {
		/// Empty for a removed cgroup.  Ids are not reused, so that the
		/// record stays right.
		std::string path;
		std::string name; ///< the path, or "cgroup 23"
		clock::time_point used;
	};

	const record &find(uint64_t id);
	std::optional<std::string> look_up(uint64_t id);
	void make_room();

	std::string mount_;
	std::map<uint64_t, record> records_;
	/// Paths by id at the last read of the whole tree.
	std::map<uint64_t, std::string> tree_;
	std::optional<clock::time_point> tree_read_at_;
};

} // namespace cli
