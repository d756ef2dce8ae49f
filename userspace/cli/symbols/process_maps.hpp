// SPDX-License-Identifier: GPL-2.0-or-later
// What a process may execute, and the files that this is of, as the process
// itself sees them: it may be in another mount namespace than we are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "process/unique_fd.hpp"
#include "symbols/build_id.hpp"

namespace cli {

/// Code in memory.
struct code_mapping {
	uint64_t start = 0, length = 0;
	uint64_t offset = 0; ///< in the file
	uint32_t pid = 0;
	std::string path; ///< empty, or as perf has it: "//anon", "[vdso]"
	build_id id;	  ///< of the file, where it is known

	bool contains(uint64_t address) const
	{
		return address >= start && address - start < length;
	}
};

struct process_mapping : code_mapping {
	unsigned device_major = 0, device_minor = 0;
	uint64_t inode = 0;
};

/// In order of address; none when the process has ended.
std::vector<process_mapping> executable_mappings(uint32_t process);

/// @return whether that is code that no file has: made at run time, or the
/// kernel's, in brackets.
bool is_anonymous(std::string_view path);

/// The very file that is mapped, also when it was deleted or is in another
/// mount namespace.
unique_fd open_mapped(const code_mapping &mapping);
/// A file by the path that it has for a process.
unique_fd open_in_root_of(uint32_t process, const std::string &path);
/// A file of this mount namespace.  These functions open regular files only;
/// other files are not touched.
unique_fd open_regular(const std::string &path);

struct process_identity {
	uint32_t pid; ///< in its own PID namespace
	uid_t user;   ///< effective; 0 where it is not known
};

/// As the kernel has it now; with @p process itself where it has ended.
process_identity identity_of(uint32_t process);

} // namespace cli
