// SPDX-License-Identifier: GPL-2.0-or-later
// The functions of the running kernel, as /proc/kallsyms and /proc/modules tell
// of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

struct kernel_module {
	std::string name;
	uint64_t start = 0, size = 0; ///< start 0: this user may not know
};

/// Those that are loaded.
std::vector<kernel_module> kernel_modules();

class kallsyms {
public:
	/// Empty where addresses are hidden from this user.
	static kallsyms read(const char *path = "/proc/kallsyms");

	kallsyms() = default;
	kallsyms(kallsyms &&) = default;
	kallsyms &operator=(kallsyms &&) = default;

	/// The function that @p address is in, or empty.
	std::string_view find(uint64_t address) const;
	/// The same, if it is of a module; "" for the kernel's own.
	std::string_view find(uint64_t address, std::string_view module) const;
	/// 0: there is none.
	uint64_t address_of(std::string_view name) const;
	bool empty() const { return symbols_.empty(); }

private:
	struct symbol {
		uint64_t address;
		std::string_view name, module;
	};

	const symbol *at(uint64_t address) const;

	/// Of which the names are parts; they stay when this object moves.
	std::vector<char> text_;
	std::vector<symbol> symbols_;
};

} // namespace cli
