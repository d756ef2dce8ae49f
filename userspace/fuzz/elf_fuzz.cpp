// SPDX-License-Identifier: GPL-2.0-or-later
// Programs, and the debug files within them, as a symbolizer meets them; and
// ELF notes.
#include "fuzz.hpp"

#include <string>

#include "symbols/build_id.hpp"
#include "symbols/elf_object.hpp"

using namespace cli;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	require(build_id::of_notes({data, size}).size <= build_id::max_size,
		"a build id has a length");

	const auto object = elf_object::of_image(
		{reinterpret_cast<const char *>(data), size}, "object");

	if (!object)
		return 0;
	require(object->id().size <= build_id::max_size,
		"a build id has a length");
	for (const uint64_t place :
	     {0ull, 64ull, 0x1000ull, 0x1139ull, 0xffffffffffffffffull}) {
		demangled(object->function_at(place));
		demangled(object->function_at_address(place));
	}
	object->address_of("main");
	return 0;
}
