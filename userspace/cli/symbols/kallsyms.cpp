// SPDX-License-Identifier: GPL-2.0-or-later
// The functions of the running kernel.
#include "symbols/kallsyms.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include "process/unique_fd.hpp"

namespace cli {

std::vector<kernel_module> kernel_modules()
{
	std::ifstream file("/proc/modules");
	std::vector<kernel_module> modules;
	std::string line;

	while (std::getline(file, line)) {
		std::istringstream words(line);
		std::string uses, users, state;
		kernel_module m;

		// The last is hexadecimal, with 0x before it.
		words >> m.name >> m.size >> uses >> users >> state >>
			std::hex >> m.start;
		if (words)
			modules.push_back(std::move(m));
	}
	return modules;
}

static std::vector<char> contents(const char *path)
{
	unique_fd fd(open(path, O_RDONLY | O_CLOEXEC));
	std::vector<char> text;
	size_t used = 0;
	ssize_t got = 0;

	do {
		used += got;
		text.resize(used + (size_t{1} << 20));
		got = fd ? ::read(fd.get(), text.data() + used,
				  text.size() - used)
			 : 0;
	} while (got > 0);
	text.resize(used);
	return text;
}

/// Takes what is before the next @p end of the line.
static std::string_view word(std::string_view &line, char end = ' ')
{
	size_t length = std::min(line.find(end), line.size());
	std::string_view taken = line.substr(0, length);

	line.remove_prefix(std::min(length + 1, line.size()));
	return taken;
}

kallsyms kallsyms::read(const char *path)
{
	kallsyms made;

	made.text_ = contents(path);

	std::string_view rest(made.text_.data(), made.text_.size());

	// ADDRESS TYPE NAME, and for a module's a tab and [MODULE]
	while (!rest.empty()) {
		std::string_view line = word(rest, '\n');
		std::string_view digits = word(line), type = word(line);
		symbol s{0, word(line, '\t'), line};

		std::from_chars(digits.data(), digits.data() + digits.size(),
				s.address, 16);
		if (s.module.starts_with('[') && s.module.ends_with(']'))
			s.module = s.module.substr(1, s.module.size() - 2);
		if (s.address && type.size() == 1 &&
		    std::string_view("tTwW").find(type[0]) !=
			    std::string_view::npos)
			made.symbols_.push_back(s);
	}
	std::stable_sort(made.symbols_.begin(), made.symbols_.end(),
			 [](const symbol &a, const symbol &b) {
				 return a.address < b.address;
			 });
	return made;
}

const kallsyms::symbol *kallsyms::at(uint64_t address) const
{
	auto next = std::upper_bound(symbols_.begin(), symbols_.end(), address,
				     [](uint64_t value, const symbol &s) {
					     return value < s.address;
				     });

	return next == symbols_.begin() ? nullptr : &*std::prev(next);
}

std::string_view kallsyms::find(uint64_t address) const
{
	const symbol *found = at(address);

	return found ? found->name : std::string_view();
}

std::string_view kallsyms::find(uint64_t address, std::string_view module) const
{
	const symbol *found = at(address);

	return found && found->module == module ? found->name
						: std::string_view();
}

uint64_t kallsyms::address_of(std::string_view name) const
{
	for (const symbol &s : symbols_)
		if (s.name == name && s.module.empty())
			return s.address;
	return 0;
}

} // namespace cli
