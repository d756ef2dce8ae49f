// SPDX-License-Identifier: GPL-2.0-or-later
// Names for addresses.
#include "symbols.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "bpf_support.hpp"

namespace cli {

namespace {

/// A file in memory; every access is checked against its length.
class mapped_file {
public:
	explicit mapped_file(const std::filesystem::path &path)
	{
		unique_fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
		struct stat status;

		if (!fd || fstat(fd.get(), &status) ||
		    !S_ISREG(status.st_mode) || status.st_size <= 0)
			return;
		void *start = mmap(nullptr, status.st_size, PROT_READ,
				   MAP_PRIVATE, fd.get(), 0);

		if (start != MAP_FAILED)
			bytes_ = {static_cast<const std::byte *>(start),
				  static_cast<size_t>(status.st_size)};
	}
	mapped_file(const mapped_file &) = delete;
	~mapped_file()
	{
		if (!bytes_.empty())
			munmap(const_cast<std::byte *>(bytes_.data()),
			       bytes_.size());
	}

	/// The @p n-th thing from @p offset on.
	template <class T>
	std::optional<T> at(uint64_t offset, uint64_t n = 0) const
	{
		T thing;

		if (offset > bytes_.size() ||
		    n >= (bytes_.size() - offset) / sizeof(T))
			return {};
		std::memcpy(&thing, bytes_.data() + offset + n * sizeof(T),
			    sizeof(T));
		return thing;
	}

	std::string text(uint64_t offset, uint64_t end) const
	{
		end = std::min<uint64_t>(end, bytes_.size());
		if (offset >= end)
			return {};
		const char *start =
			reinterpret_cast<const char *>(bytes_.data()) + offset;

		return std::string(start, strnlen(start, end - offset));
	}

private:
	std::span<const std::byte> bytes_;
};

std::string demangled(const std::string &name)
{
	int status = -1;
	char *text = name.starts_with("_Z")
			     ? abi::__cxa_demangle(name.c_str(), nullptr,
						   nullptr, &status)
			     : nullptr;
	std::string result = text ? text : name;

	std::free(text);
	return result;
}

} // namespace

symbol_table symbol_table::of_file(const std::filesystem::path &path)
{
	mapped_file file(path);
	auto header = file.at<Elf64_Ehdr>(0);
	symbol_table table;

	if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_ident[EI_CLASS] != ELFCLASS64)
		return table;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		auto segment = file.at<Elf64_Phdr>(header->e_phoff, i);

		if (segment && segment->p_type == PT_LOAD)
			table.segments_.push_back({segment->p_offset,
						   segment->p_vaddr,
						   segment->p_filesz});
	}
	for (unsigned i = 0; i < header->e_shnum; i++) {
		auto section = file.at<Elf64_Shdr>(header->e_shoff, i);

		if (!section || (section->sh_type != SHT_SYMTAB &&
				 section->sh_type != SHT_DYNSYM))
			continue;
		auto names =
			file.at<Elf64_Shdr>(header->e_shoff, section->sh_link);

		for (uint64_t n = 0;
		     names && n < section->sh_size / sizeof(Elf64_Sym); n++) {
			auto s = file.at<Elf64_Sym>(section->sh_offset, n);

			if (!s)
				break;
			if (ELF64_ST_TYPE(s->st_info) != STT_FUNC ||
			    !s->st_value)
				continue;
			table.symbols_.push_back(
				{s->st_value, s->st_size,
				 file.text(names->sh_offset + s->st_name,
					   names->sh_offset + names->sh_size)});
		}
	}
	table.sort();
	return table;
}

symbol_table symbol_table::of_kernel()
{
	std::ifstream file("/proc/kallsyms");
	symbol_table table;
	std::string line, name;
	uint64_t address;
	char type;

	while (std::getline(file, line)) {
		std::istringstream words(line);

		if (words >> std::hex >> address >> type >> name && address &&
		    (type == 't' || type == 'T' || type == 'w' || type == 'W'))
			table.symbols_.push_back({address, 0, name});
	}
	table.sort();
	return table;
}

void symbol_table::sort()
{
	std::stable_sort(symbols_.begin(), symbols_.end(),
			 [](auto &a, auto &b) { return a.start < b.start; });
}

std::string_view symbol_table::find(uint64_t address) const
{
	auto at = std::upper_bound(
		symbols_.begin(), symbols_.end(), address,
		[](uint64_t value, auto &s) { return value < s.start; });

	if (at == symbols_.begin())
		return {};
	--at;
	if (at->size && address - at->start >= at->size)
		return {};
	return at->name;
}

uint64_t symbol_table::address_of(uint64_t offset) const
{
	for (const auto &s : segments_)
		if (offset >= s.offset && offset - s.offset < s.size)
			return offset - s.offset + s.address;
	return offset;
}

symbolizer::symbolizer() : kernel_(symbol_table::of_kernel()) {}

std::vector<executable_mapping> executable_mappings(uint32_t process)
{
	std::ifstream file(fmt::format("/proc/{}/maps", process));
	std::vector<executable_mapping> mappings;
	std::string line;

	while (std::getline(file, line)) {
		unsigned long start, end, offset;
		char executable;
		int path = 0;

		if (std::sscanf(line.c_str(),
				"%lx-%lx %*c%*c%c%*c %lx %*s %*s %n", &start,
				&end, &executable, &offset, &path) < 4 ||
		    executable != 'x')
			continue;
		mappings.push_back(
			{start, end, offset, path ? line.substr(path) : ""});
	}
	return mappings;
}

void symbolizer::learn(uint32_t process)
{
	std::vector<executable_mapping> mappings = executable_mappings(process);

	// It may be gone, or on its way: what was there before stays.
	if (!mappings.empty())
		processes_[process] = std::move(mappings);
}

std::string symbolizer::kernel(uint64_t address) const
{
	std::string_view name = kernel_.find(address);

	return name.empty() ? "[kernel]" : std::string(name);
}

const symbol_table &symbolizer::table(const std::string &path)
{
	auto known = files_.find(path);

	if (known == files_.end())
		known = files_.emplace(path, symbol_table::of_file(path)).first;
	return known->second;
}

std::string symbolizer::user(uint32_t process, uint64_t address)
{
	for (const executable_mapping &m : processes_[process]) {
		if (address < m.start || address >= m.end)
			continue;
		std::string file =
			std::filesystem::path(m.path).filename().string();

		if (m.path.empty() || m.path[0] == '[')
			return m.path.empty() ? "[anonymous]" : m.path;
		const symbol_table &t = table(m.path);
		std::string_view name =
			t.find(t.address_of(address - m.start + m.offset));

		return name.empty() ? "[" + file + "]"
				    : demangled(std::string(name));
	}
	return "[unknown]";
}

} // namespace cli
