// SPDX-License-Identifier: GPL-2.0-or-later
// The functions of one ELF file.
#include "symbols/elf_object.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace cli {

/// Files are given by descriptor; only their debug files are looked for, where
/// elfutils does by default.
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = nullptr,
};

void elf_object::closer::operator()(Dwfl *dwfl) const
{
	dwfl_end(dwfl);
}

std::unique_ptr<elf_object> elf_object::open(unique_fd file,
					     const std::string &path)
{
	auto made = std::make_unique<elf_object>();
	struct stat status;

	if (!file || fstat(file.get(), &status) || !S_ISREG(status.st_mode))
		return nullptr;
	made->id_ = build_id::of_file(file.get());
	made->dwfl_.reset(dwfl_begin(&callbacks));
	if (!made->dwfl_)
		return nullptr;
	dwfl_report_begin(made->dwfl_.get());
	// At the addresses that the file itself has.  The descriptor is taken
	// when it succeeds.
	made->module_ = dwfl_report_elf(made->dwfl_.get(), path.c_str(),
					path.c_str(), file.get(), 0, true);
	if (made->module_)
		file.release();
	dwfl_report_end(made->dwfl_.get(), nullptr, nullptr);
	if (!made->module_)
		return nullptr;

	GElf_Addr bias;
	GElf_Ehdr header;
	Elf *elf = dwfl_module_getelf(made->module_, &bias);
	size_t count = 0;

	if (!elf || !gelf_getehdr(elf, &header) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN) ||
	    elf_getphdrnum(elf, &count))
		return nullptr;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr program;

		if (gelf_getphdr(elf, int(i), &program) &&
		    program.p_type == PT_LOAD)
			made->segments_.push_back({program.p_offset,
						   program.p_vaddr + bias,
						   program.p_filesz});
	}
	return made;
}

std::unique_ptr<elf_object> elf_object::of_image(std::span<const char> image,
						 const std::string &name)
{
	unique_fd file(memfd_create("object", MFD_CLOEXEC));

	if (!file || write(file.get(), image.data(), image.size()) !=
			     ssize_t(image.size()))
		return nullptr;
	return open(std::move(file), name);
}

/// The process' own: there is one for all processes of a kernel.
std::unique_ptr<elf_object> elf_object::vdso()
{
	auto start = reinterpret_cast<const char *>(getauxval(AT_SYSINFO_EHDR));
	Elf64_Ehdr header;

	if (!start)
		return nullptr;
	std::memcpy(&header, start, sizeof(header));
	// The table of sections is its end.
	return of_image({start, header.e_shoff + size_t(header.e_shentsize) *
							 header.e_shnum},
			"[vdso]");
}

/// What perf prefers of several names for a place: those with a size, global
/// ones, and without underscores before them.
static unsigned rank_of(const GElf_Sym &symbol, const char *name)
{
	unsigned binding = GELF_ST_BIND(symbol.st_info);

	return (symbol.st_size ? 0 : 1u << 16) +
	       (binding == STB_GLOBAL ? 0
		: binding == STB_WEAK ? 1u << 8
				      : 2u << 8) +
	       unsigned(std::min<size_t>(std::strspn(name, "_"), 255));
}

/// Larger than any program has; a sparse file may claim billions.
static constexpr int most_symbols = 1 << 24;

void elf_object::read_symbols()
{
	int count = dwfl_module_getsymtab(module_);

	if (count > most_symbols)
		throw std::length_error(
			fmt::format("more than {} symbols", most_symbols));
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section;
		const char *name =
			dwfl_module_getsym_info(module_, i, &symbol, &address,
						&section, nullptr, nullptr);
		unsigned type = name ? GELF_ST_TYPE(symbol.st_info) : 0;

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && *name &&
		    section != SHN_UNDEF && address)
			symbols_.push_back({address, symbol.st_size, name,
					    rank_of(symbol, name)});
	}
	std::sort(symbols_.begin(), symbols_.end(),
		  [](const symbol &a, const symbol &b) {
			  return std::tie(a.start, a.rank) <
				 std::tie(b.start, b.rank);
		  });
	symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
				   [](const symbol &a, const symbol &b) {
					   return a.start == b.start;
				   }),
		       symbols_.end());
}

/// Read when they are first asked for: most files of a process never are.
const std::vector<elf_object::symbol> &elf_object::symbols()
{
	if (!std::exchange(read_, true))
		read_symbols();
	return symbols_;
}

std::string_view elf_object::function_at_address(uint64_t address)
{
	const auto &all = symbols();
	auto next = std::upper_bound(all.begin(), all.end(), address,
				     [](uint64_t value, const symbol &s) {
					     return value < s.start;
				     });

	if (next == all.begin())
		return {};

	const symbol &found = *std::prev(next);

	if (found.size && address - found.start >= found.size)
		return {};
	return found.name;
}

std::string_view elf_object::function_at(uint64_t offset)
{
	for (const segment &s : segments_)
		if (offset >= s.offset && offset - s.offset < s.size)
			return function_at_address(offset - s.offset +
						   s.address);
	return {};
}

uint64_t elf_object::address_of(std::string_view function)
{
	for (const symbol &s : symbols())
		if (function == s.name)
			return s.start;
	return 0;
}

std::string demangled(std::string_view name)
{
	// Longer names are made to waste time: demangling them is slow.
	static constexpr size_t longest = 4096;
	std::string plain(name);
	int status = -1;
	char *text = name.starts_with("_Z") && name.size() <= longest
			     ? abi::__cxa_demangle(plain.c_str(), nullptr,
						   nullptr, &status)
			     : nullptr;

	if (text)
		plain = text;
	std::free(text);
	return plain;
}

} // namespace cli
