// SPDX-License-Identifier: GPL-2.0-or-later
// Build ids.
#include "symbols/build_id.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <gelf.h>

namespace cli {

build_id::build_id(std::span<const uint8_t> raw)
{
	// Zeros are how perf says that there is none.
	if (raw.size() > max_size ||
	    std::all_of(raw.begin(), raw.end(), [](uint8_t b) { return !b; }))
		return;
	std::copy(raw.begin(), raw.end(), bytes.begin());
	size = raw.size();
}

std::string build_id::hex() const
{
	std::string text;

	for (size_t i = 0; i < size; i++)
		text += fmt::format("{:02x}", bytes[i]);
	return text;
}

build_id build_id::of_notes(std::span<const uint8_t> notes)
{
	auto padded = [](size_t n) { return (n + 3) & ~size_t{3}; };
	Elf64_Nhdr note;

	while (notes.size() >= sizeof(note)) {
		std::memcpy(&note, notes.data(), sizeof(note));
		notes = notes.subspan(sizeof(note));

		size_t name = padded(note.n_namesz);
		size_t whole = name + padded(note.n_descsz);

		if (name + note.n_descsz > notes.size())
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !std::memcmp(notes.data(), ELF_NOTE_GNU, 4))
			return build_id(notes.subspan(name, note.n_descsz));
		notes = notes.subspan(std::min(whole, notes.size()));
	}
	return {};
}

build_id build_id::of_file(int fd)
{
	static const unsigned version = elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
	const void *raw = nullptr;
	build_id found;

	(void)version;
	if (elf && elf_kind(elf) == ELF_K_ELF)
		if (ssize_t size = dwelf_elf_gnu_build_id(elf, &raw); size > 0)
			found = build_id({static_cast<const uint8_t *>(raw),
					  size_t(size)});
	elf_end(elf);
	return found;
}

static build_id of_note_file(const std::string &path)
{
	std::ifstream file(path, std::ios::binary);
	std::vector<uint8_t> notes{std::istreambuf_iterator<char>(file), {}};

	return build_id::of_notes(notes);
}

build_id build_id::of_running_kernel()
{
	return of_note_file("/sys/kernel/notes");
}

build_id build_id::of_module(const std::string &name)
{
	return of_note_file("/sys/module/" + name +
			    "/notes/.note.gnu.build-id");
}

} // namespace cli
