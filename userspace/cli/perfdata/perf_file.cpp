// SPDX-License-Identifier: GPL-2.0-or-later
// Opening perf.data files.
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/perf_format.hpp"
#include "perfdata/perf_reader.hpp"
#include "process/unique_fd.hpp"

namespace cli {

using uncore::errc;
using uncore::error;

namespace {

/// A file as memory.
class mapped_file {
public:
	mapped_file(int fd, size_t size) : size_(size)
	{
		if (size)
			start_ = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd,
				      0);
	}
	mapped_file(const mapped_file &) = delete;
	~mapped_file()
	{
		if (start_ != MAP_FAILED)
			munmap(start_, size_);
	}

	bool good() const { return !size_ || start_ != MAP_FAILED; }
	std::span<const char> contents() const
	{
		if (start_ == MAP_FAILED)
			return {};
		return {static_cast<const char *>(start_), size_};
	}

private:
	void *start_ = MAP_FAILED;
	size_t size_;
};

} // namespace

static error broken(const std::string &path, const char *why)
{
	return {errc::system, fmt::format("{}: {}", path, why)};
}

uncore::result<perf_file> perf_file::read(const std::string &path)
{
	unique_fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));

	if (!fd)
		return broken(path, std::strerror(errno));
	return read(fd.get(), path);
}

bool perf_file::is_one(const std::string &path)
{
	const unique_fd fd = open_regular(path);
	char magic[sizeof(file_header::magic)];

	return fd &&
	       pread(fd.get(), magic, sizeof(magic), 0) == sizeof(magic) &&
	       (!std::memcmp(magic, file_magic, sizeof(magic)) ||
		!std::memcmp(magic, file_magic_swapped, sizeof(magic)));
}

uncore::result<perf_file> perf_file::read(int fd, const std::string &path)
{
	struct stat status;

	if (fstat(fd, &status))
		return broken(path, std::strerror(errno));
	if (S_ISDIR(status.st_mode))
		return broken(path,
			      "a folder, as of perf record --threads; only "
			      "files are read");
	if (!S_ISREG(status.st_mode))
		return broken(path, "not a regular file");

	mapped_file file(fd, size_t(status.st_size));

	if (!file.good())
		return broken(path, std::strerror(errno));
	return parse(file.contents(), path);
}

} // namespace cli
