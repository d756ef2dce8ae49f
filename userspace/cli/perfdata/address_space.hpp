// SPDX-License-Identifier: GPL-2.0-or-later
// What is mapped where in a process at one time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace cli {

/// Mappings by number; one that is put over others takes their place.
class address_space {
public:
	static constexpr size_t none = SIZE_MAX;

	/// Of no length: nothing happens.
	void map(uint64_t start, uint64_t length, size_t number);
	/// The mapping that @p address is in, or none.
	size_t find(uint64_t address) const;

private:
	struct area {
		uint64_t last; ///< address in it
		size_t number;
	};

	std::map<uint64_t, area> areas_; ///< by start
};

} // namespace cli
