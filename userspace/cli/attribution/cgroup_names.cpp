// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of cgroups by their ids.
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

/// Controllers by which runtimes limit containers, the surest first.
constexpr std::array<std::string_view, 3> controllers = {"memory", "cpu",
							 "pids"};

/// How much of the host's tree a mount has.  In a container with a cgroup
/// namespace that is the one that begins above; in another one it has all.
size_t reach(const std::string &root)
{
	size_t levels = 0;

	while (root.compare(3 * levels, 3, "/..") == 0)
		levels++;
	return levels ? levels + 1 : root == "/";
}

/// "rw,cpu,cpuacct" has "cpu".
bool has_option(const std::string &options, std::string_view which)
{
	std::istringstream words(options);
	std::string word;

	while (std::getline(words, word, ','))
		if (word == which)
			return true;
	return false;
}

} // namespace

cgroup_mount find_cgroups(std::istream &mounts)
{
	/// By version: the controllers', and version 2 as the last.
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
			auto &[its, most] = best[i];

			if (i == controllers.size()
				    ? type != "cgroup2"
				    : type != "cgroup" ||
					      !has_option(options,
							  controllers[i]))
				continue;
			if (its.empty() || reach(root) > most) {
				its = folder;
				most = reach(root);
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

/// A cgroup's id is its folder's number as well.
static std::map<uint64_t, std::string> all_cgroups(const std::string &mount)
{
	namespace fs = std::filesystem;
	std::map<uint64_t, std::string> all;
	std::error_code failed;
	struct stat status;

	if (!stat(mount.c_str(), &status))
		all[status.st_ino] = "/";
	for (fs::recursive_directory_iterator
		     it(mount, fs::directory_options::skip_permission_denied,
			failed),
	     end;
	     !failed && it != end; it.increment(failed)) {
		std::error_code gone;

		if (it->is_directory(gone) &&
		    !stat(it->path().c_str(), &status))
			all[status.st_ino] =
				it->path().native().substr(mount.size());
	}
	return all;
}

/// A cgroup's id is its file handle: no search through the tree.
static std::string path_of_cgroup(const std::string &mount, uint64_t id,
				  bool &refused)
{
	struct {
		file_handle handle;
		char bytes[sizeof(id)];
	} file{};
	constexpr int kernfs_handle = 0xfe;
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

std::string cgroup_names::path(uint64_t id)
{
	bool refused = false;

	if (mount_.empty())
		return {};

	const std::string path = path_of_cgroup(mount_, id, refused);

	if (!refused)
		return path;
	if (all_.empty())
		all_ = all_cgroups(mount_);

	const auto found = all_.find(id);

	return found == all_.end() ? std::string() : found->second;
}

const std::string &cgroup_names::name(uint64_t id)
{
	auto known = names_.find(id);

	if (known != names_.end())
		return known->second;
	std::string path = this->path(id);

	if (path.empty())
		path = fmt::format("cgroup {}", id);
	return names_.emplace(id, path).first->second;
}

} // namespace cli
