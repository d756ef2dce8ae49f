// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/program.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace cli {

uncore::error execute_beside(const std::string &name,
			     const std::vector<std::string> &arguments)
{
	std::error_code failed;
	const auto folder =
		std::filesystem::read_symlink("/proc/self/exe", failed)
			.parent_path();
	std::vector<char *> words = {const_cast<char *>(name.c_str())};

	for (const std::string &argument : arguments)
		words.push_back(const_cast<char *>(argument.c_str()));
	words.push_back(nullptr);
	for (const auto &location : {folder, folder / UNCORE_LIBEXEC}) {
		execv((location / name).c_str(), words.data());
		if (errno != ENOENT)
			return {uncore::errc::system,
				fmt::format("{}: {}",
					    (location / name).string(),
					    std::strerror(errno))};
	}
	return {uncore::errc::system,
		fmt::format(
			"{} is neither in {} nor in {}: install the package uncore again",
			name, folder.string(),
			(folder / UNCORE_LIBEXEC).lexically_normal().string())};
}

} // namespace cli
