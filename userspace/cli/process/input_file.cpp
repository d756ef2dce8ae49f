// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/input_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "process/unique_fd.hpp"

namespace cli {

using uncore::errc;
using uncore::error;

uncore::result<std::string> read_file(const std::string &path, size_t most)
{
	// A pipe without a writer must not block.
	const unique_fd fd(
		open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	struct stat status;
	std::string text;
	char part[4096];
	ssize_t length;

	if (!fd || fstat(fd.get(), &status))
		return error{errc::system, std::strerror(errno)};
	if (!S_ISREG(status.st_mode))
		return error{errc::invalid, "it is not a regular file"};
	while ((length = read(fd.get(), part, sizeof(part))) > 0) {
		text.append(part, size_t(length));
		if (text.size() > most)
			return error{
				errc::invalid,
				fmt::format("it has more than {} bytes", most)};
	}
	if (length < 0)
		return error{errc::system, std::strerror(errno)};
	return text;
}

} // namespace cli
