// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of cgroups by their ids.  The id of a cgroup is the inode number of its folder,
// and also the file handle of the folder.
#include "attribution/cgroup_names.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "attribution/bpf_support.hpp"
#include "process/unique_fd.hpp"

namespace cli {

namespace {

/// Controllers with which container runtimes limit containers, the most likely first.
/// In version 1 each controller may have its own hierarchy, a tree of cgroups.
constexpr std::array<std::string_view, 3> controllers = {"memory", "cpu",
							 "pids"};

/// Shortest time between two reads of the whole tree of cgroups.
constexpr std::chrono::seconds tree_time{1};
/// Limit of recorded names.  When the limit is reached, names that were not used for
/// keep_time are dropped.
constexpr size_t max_records = 8192;
constexpr std::chrono::seconds keep_time{60};

/// Rank a mount by its part of the host's tree; a larger number is a larger part.
/// @p root is the mount's root in mountinfo.  In a container with a cgroup namespace
/// the host's mount has a root such as "/../..": the namespace's root is two levels
/// below.  Elsewhere the root of a mount of the whole tree is "/".
size_t reach(const std::string &root)
{
	size_t levels = 0;

	while (root.compare(3 * levels, 3, "/..") == 0)
		levels++;
	return levels ? levels + 1 : root == "/";
}

/// Is @p name in a list of options, as "cpu" in "rw,cpu,cpuacct"?
bool has_option(const std::string &options, std::string_view name)
{
	std::istringstream words(options);
	std::string word;

	while (std::getline(words, word, ','))
		if (word == name)
			return true;
	return false;
}

} // namespace

cgroup_mount find_cgroups(std::istream &mounts)
{
	/// Best mount of each controller, and of version 2 at the end.
	std::array<std::pair<std::string, size_t>, controllers.size() + 1> best;
	std::string line;

	while (std::getline(mounts, line)) {
		std::istringstream words(line);
		std::string skipped, root, folder, word, type, options;

		words >> skipped >> skipped >> skipped >> root >> folder;
		while (words >> word && word != "-")
			;
		words >> type >> skipped >> options;
		for (size_t i = 0; i < best.size(); i++) {
			auto &[best_folder, best_reach] = best[i];

			if (i == controllers.size()
				    ? type != "cgroup2"
				    : type != "cgroup" ||
					      !has_option(options,
							  controllers[i]))
				continue;
			if (best_folder.empty() || reach(root) > best_reach) {
				best_folder = folder;
				best_reach = reach(root);
			}
		}
	}
	for (size_t i = 0; i < best.size(); i++)
		if (!best[i].first.empty())
			return {best[i].first,
				i < controllers.size()
					? std::string(controllers[i])
					: ""};
	return {};
}

cgroup_mount find_cgroups()
{
	std::ifstream mounts("/proc/self/mountinfo");

	return find_cgroups(mounts);
}

bool is_within(std::string_view path, std::string_view ancestor)
{
	return ancestor == "/" || path == ancestor ||
	       (path.starts_with(ancestor) && path[ancestor.size()] == '/');
}

/// Read the paths of a cgroup and its descendants from the file system, by id.
static std::map<uint64_t, std::string> read_tree(const std::string &mount,
						 const std::string &top = "/")
{
	namespace fs = std::filesystem;
	std::map<uint64_t, std::string> paths;
	const std::string folder = top == "/" ? mount : mount + top;
	std::error_code failed;
	struct stat status;

	if (!stat(folder.c_str(), &status))
		paths[status.st_ino] = top;
	for (fs::recursive_directory_iterator entry(
		     folder, fs::directory_options::skip_permission_denied,
		     failed),
	     end;
	     !failed && entry != end; entry.increment(failed)) {
		std::error_code gone;

		if (entry->is_directory(gone) &&
		    !stat(entry->path().c_str(), &status))
			paths[status.st_ino] =
				entry->path().native().substr(mount.size());
	}
	return paths;
}

/// Get the path of a cgroup by opening its id as a file handle, without a search
/// through the tree.
/// @param refused whether the capability CAP_DAC_READ_SEARCH is missing.
/// @return an empty path if the cgroup was removed or the open was refused.
static std::string path_of_cgroup(const std::string &mount, uint64_t id,
				  bool &refused)
{
	struct {
		file_handle handle;
		char bytes[sizeof(id)];
	} file{};
	constexpr int kernfs_handle = 0xfe; // the kernel's FILEID_KERNFS
	std::array<char, 4096> path;

	unique_fd root(open(mount.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	file.handle.handle_bytes = sizeof(id);
	file.handle.handle_type = kernfs_handle;
	std::memcpy(file.handle.f_handle, &id, sizeof(id));
	unique_fd fd(open_by_handle_at(root.get(), &file.handle,
				       O_PATH | O_CLOEXEC));
	refused = !fd && errno == EPERM;
	if (!fd)
		return {};
	ssize_t n = readlink(fmt::format("/proc/self/fd/{}", fd.get()).c_str(),
			     path.data(), path.size());
	std::string_view text(path.data(), std::max<ssize_t>(n, 0));

	if (!text.starts_with(mount))
		return {};
	text.remove_prefix(mount.size());
	return text.empty() ? "/" : std::string(text);
}

std::string cgroup_names::path_of(std::string_view written) const
{
	if (!mount_.empty() && written.starts_with(mount_) &&
	    (written.size() == mount_.size() || written[mount_.size()] == '/'))
		written.remove_prefix(mount_.size());

	const std::string path =
		std::filesystem::path(fmt::format("/{}/.", written))
			.lexically_normal();
	const size_t end = path.find_last_not_of('/');

	return end == path.npos ? "/" : path.substr(0, end + 1);
}

bool cgroup_names::exists(const std::string &path) const
{
	std::error_code ignored;

	return std::filesystem::is_directory(mount_ + path, ignored);
}

/// Look up a path.
/// @return nullopt if a new read of the tree could find the id but is not due yet; an
/// empty path for a removed cgroup.
std::optional<std::string> cgroup_names::look_up(uint64_t id)
{
	const auto now = clock::now();
	bool refused = false;

	if (mount_.empty())
		return std::string();

	std::string path = path_of_cgroup(mount_, id, refused);

	if (!refused)
		return path;

	auto entry = tree_.find(id);

	if (entry == tree_.end()) {
		if (tree_read_at_ && now - *tree_read_at_ < tree_time)
			return std::nullopt;
		tree_ = read_tree(mount_);
		tree_read_at_ = now;
		entry = tree_.find(id);
	}
	return entry == tree_.end() ? std::string() : entry->second;
}

/// If the records are full, drop records that were not used lately: their cgroups are
/// probably removed.  If the records are still full, drop all.
void cgroup_names::make_room()
{
	const auto now = clock::now();

	if (records_.size() < max_records)
		return;
	std::erase_if(records_, [now](const auto &entry) {
		return now - entry.second.used >= keep_time;
	});
	if (records_.size() >= max_records)
		records_.clear();
}

const cgroup_names::record &cgroup_names::find(uint64_t id)
{
	static const record unknown;
	auto entry = records_.find(id);

	if (entry == records_.end()) {
		auto path = look_up(id);

		if (!path)
			return unknown;
		make_room();

		std::string name =
			path->empty() ? fmt::format("cgroup {}", id) : *path;

		entry = records_.emplace(id, record{*std::move(path),
						    std::move(name),
						    {}})
				.first;
	}
	entry->second.used = clock::now();
	return entry->second;
}

void cgroup_names::remember(const std::string &path)
{
	const auto now = clock::now();

	for (const auto &[id, descendant] : read_tree(mount_, path))
		records_.insert_or_assign(id,
					  record{descendant, descendant, now});
}

const std::string &cgroup_names::path(uint64_t id)
{
	return find(id).path;
}

std::string cgroup_names::name(uint64_t id)
{
	const std::string &name = find(id).name;

	return name.empty() ? fmt::format("cgroup {}", id) : name;
}

} // namespace cli
