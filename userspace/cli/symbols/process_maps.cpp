// SPDX-License-Identifier: GPL-2.0-or-later
// What a process may execute.
#include "symbols/process_maps.hpp"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace cli {

/// The kernel writes a newline in a path as \012, and nothing else.
static std::string unescaped(std::string_view path)
{
	std::string text;

	for (size_t i = 0; i < path.size(); i++)
		if (path.substr(i, 4) == "\\012") {
			text += '\n';
			i += 3;
		} else {
			text += path[i];
		}
	return text;
}

std::vector<process_mapping> executable_mappings(uint32_t process)
{
	std::ifstream file(fmt::format("/proc/{}/maps", process));
	std::vector<process_mapping> mappings;
	std::string line;

	while (std::getline(file, line)) {
		process_mapping m;
		uint64_t end;
		char executable;
		int path = 0;

		if (std::sscanf(line.c_str(),
				"%" SCNx64 "-%" SCNx64 " %*c%*c%c%*c %" SCNx64
				" %x:%x %" SCNu64 " %n",
				&m.start, &end, &executable, &m.offset,
				&m.device_major, &m.device_minor, &m.inode,
				&path) < 7 ||
		    executable != 'x' || end <= m.start)
			continue;
		m.length = end - m.start;
		m.pid = process;
		if (path)
			m.path = unescaped(std::string_view(line).substr(path));
		mappings.push_back(std::move(m));
	}
	return mappings;
}

bool is_anonymous(std::string_view path)
{
	for (std::string_view start : {"//", "[", "anon_inode:", "/memfd:",
				       "/dev/zero", "/anon_hugepage", "/SYSV"})
		if (path.starts_with(start))
			return true;
	return path.empty();
}

/// Opens for reading what an O_PATH descriptor refers to, if it is a regular
/// file.  Opening a device has side effects, and a path that a file of samples
/// names may lead to any.
static unique_fd reopen_regular(int fd)
{
	const unique_fd found(fd);
	struct stat status;

	if (!found || fstat(found.get(), &status) || !S_ISREG(status.st_mode))
		return {};
	return unique_fd(
		open(fmt::format("/proc/self/fd/{}", found.get()).c_str(),
		     O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

unique_fd open_regular(const std::string &path)
{
	return reopen_regular(open(path.c_str(), O_PATH | O_CLOEXEC));
}

unique_fd open_in_root_of(uint32_t process, const std::string &path)
{
	unique_fd root(open(fmt::format("/proc/{}/root", process).c_str(),
			    O_PATH | O_DIRECTORY | O_CLOEXEC));
	open_how how{};

	if (!root)
		return {};
	// Symbolic links are the process': none may lead out of its root.
	how.flags = O_PATH | O_CLOEXEC;
	how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
	return reopen_regular(int(syscall(SYS_openat2, root.get(), path.c_str(),
					  &how, sizeof(how))));
}

unique_fd open_mapped(const code_mapping &mapping)
{
	// Needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN.
	unique_fd file = open_regular(
		fmt::format("/proc/{}/map_files/{:x}-{:x}", mapping.pid,
			    mapping.start, mapping.start + mapping.length));

	if (!file)
		file = open_in_root_of(mapping.pid, mapping.path);
	return file;
}

process_identity identity_of(uint32_t process)
{
	std::ifstream file(fmt::format("/proc/{}/status", process));
	process_identity found{process, 0};
	std::string line;

	while (std::getline(file, line)) {
		const size_t colon = line.find(':');

		if (colon == line.npos)
			continue;

		const std::string key = line.substr(0, colon);
		std::istringstream numbers(line.substr(colon + 1));

		if (key == "Uid") {
			uid_t real;

			numbers >> real >> found.user;
		} else if (key == "NSpid") {
			for (uint32_t pid; numbers >> pid;)
				found.pid = pid;
		}
	}
	return found;
}

} // namespace cli
