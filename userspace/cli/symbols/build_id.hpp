// SPDX-License-Identifier: GPL-2.0-or-later
// Build ids: by them a file is known to be the one that ran.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace cli {

struct build_id {
	/// The longest that the kernel reports (BUILD_ID_SIZE_MAX).
	static constexpr size_t max_size = 20;

	std::array<uint8_t, max_size> bytes{};
	size_t size = 0; ///< 0: not known

	build_id() = default;
	/// None, if it is longer than the kernel allows.
	explicit build_id(std::span<const uint8_t> raw);

	explicit operator bool() const { return size != 0; }
	bool operator==(const build_id &) const = default;
	std::string hex() const;

	/// The one among ELF notes, as a section or /sys/kernel/notes has them.
	static build_id of_notes(std::span<const uint8_t> notes);
	/// Of an ELF file, which stays open; none for any other.
	static build_id of_file(int fd);
	static build_id of_running_kernel();
	/// Of a module that is loaded, "xfs".
	static build_id of_module(const std::string &name);
};

} // namespace cli
