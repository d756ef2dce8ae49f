// SPDX-License-Identifier: GPL-2.0-or-later
// Names for addresses: the kernel's from /proc/kallsyms, programs' from the
// symbol tables of the files that they have mapped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cli {

/// What a process may execute, from /proc/PID/maps.
struct executable_mapping {
	uint64_t start, end, offset;
	std::string path; ///< empty: anonymous memory
};

/// None when the process is gone.
std::vector<executable_mapping> executable_mappings(uint32_t process);

/// Functions by address.
class symbol_table {
public:
	/// Of an ELF file, addresses as in the file's own segments.  Empty for
	/// what is no such file.
	static symbol_table of_file(const std::filesystem::path &path);
	static symbol_table of_kernel();

	/// The function at an address, or empty.
	std::string_view find(uint64_t address) const;
	/// Where an offset in the file is in memory.
	uint64_t address_of(uint64_t offset) const;

private:
	struct symbol {
		uint64_t start, size; ///< size 0: up to the next one
		std::string name;
	};
	struct segment {
		uint64_t offset, address, size;
	};

	void sort();

	std::vector<symbol> symbols_;
	std::vector<segment> segments_;
};

class symbolizer {
public:
	symbolizer();

	/// Reads what a process has mapped, while it is there.
	void learn(uint32_t process);
	std::string kernel(uint64_t address) const;
	/// The function, the mapped file's name in brackets, or [unknown].
	std::string user(uint32_t process, uint64_t address);

private:
	const symbol_table &table(const std::string &path);

	symbol_table kernel_;
	std::map<uint32_t, std::vector<executable_mapping>> processes_;
	std::map<std::string, symbol_table> files_;
};

} // namespace cli
