// SPDX-License-Identifier: GPL-2.0-or-later
// The functions of one ELF file, by elfutils' libdwfl: its own symbols, and
// those of its debug file, which may be beside it, in /usr/lib/debug or within.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "process/unique_fd.hpp"
#include "symbols/build_id.hpp"

struct Dwfl;
struct Dwfl_Module;

namespace cli {

class elf_object {
public:
	/// A program or library; nullptr for anything else.
	/// @param path from where it is opened: debug files are looked for
	/// relative to it
	static std::unique_ptr<elf_object> open(unique_fd file,
						const std::string &path);
	/// The same from memory.
	static std::unique_ptr<elf_object> of_image(std::span<const char> image,
						    const std::string &name);
	/// The code that the kernel maps into each 64-bit process; nullptr
	/// where there is none.
	static std::unique_ptr<elf_object> vdso();

	const build_id &id() const { return id_; }
	/// The function at an offset in the file, as the linker knows it; empty
	/// for none.
	std::string_view function_at(uint64_t offset);
	/// By addresses as in the file; 0 for none.
	std::string_view function_at_address(uint64_t address);
	uint64_t address_of(std::string_view function);

private:
	struct closer {
		void operator()(Dwfl *dwfl) const;
	};
	struct segment {
		uint64_t offset, address, size;
	};
	struct symbol {
		uint64_t start, size; ///< size 0: up to the next one
		const char *name;
		unsigned rank; ///< of those at one address the least is shown
	};

	void read_symbols();
	const std::vector<symbol> &symbols();

	std::unique_ptr<Dwfl, closer> dwfl_;
	Dwfl_Module *module_ = nullptr;
	build_id id_;
	std::vector<segment> segments_;
	std::vector<symbol> symbols_;
	bool read_ = false;
};

/// As the source has it, for C++ and what mangles alike.
std::string demangled(std::string_view name);

} // namespace cli
