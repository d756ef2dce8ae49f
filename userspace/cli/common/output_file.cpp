// SPDX-License-Identifier: GPL-2.0-or-later
// A file that is there whole or not at all.
#include "common/output_file.hpp"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "common/unique_fd.hpp"

namespace cli {

uncore::error output_file::broken(int number) const
{
	return {uncore::errc::system,
		fmt::format("{}: {}", path_, std::strerror(number))};
}

uncore::result<output_file> output_file::create(const std::string &path,
						mode_t mode)
{
	output_file made(path);
	struct stat status;
	char whole[PATH_MAX];
	bool exists = !stat(path.c_str(), &status);
	unique_fd fd;

	// A symbolic link stays, and what it points to is replaced.
	made.target_ = realpath(path.c_str(), whole) ? whole : path;
	if (exists && S_ISDIR(status.st_mode))
		return made.broken(EISDIR);
	if (exists && !S_ISREG(status.st_mode)) {
		fd = unique_fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
	} else {
		std::string name = made.target_ + ".XXXXXX";

		fd = unique_fd(mkostemp(name.data(), O_CLOEXEC));
		if (fd)
			made.aside_ = name;
	}
	if (!fd)
		return made.broken(errno);
	if (!made.aside_.empty()) {
		mode_t mask = umask(0);

		umask(mask);
		if (fchmod(fd.get(), mode & ~mask))
			return made.broken(errno);
	}
	made.file_.reset(fdopen(fd.get(), "wb"));
	if (!made.file_)
		return made.broken(errno);
	fd.release();
	return made;
}

output_file::~output_file()
{
	if (file_ && !aside_.empty())
		unlink(aside_.c_str());
}

void output_file::write(const void *data, size_t size)
{
	if (!error_ && std::fwrite(data, 1, size, file_.get()) != size)
		error_ = errno ? errno : EIO;
}

void output_file::seek(uint64_t offset)
{
	if (!error_ && fseeko(file_.get(), off_t(offset), SEEK_SET))
		error_ = errno;
}

uint64_t output_file::tell()
{
	off_t at = error_ ? 0 : ftello(file_.get());

	if (at < 0)
		error_ = errno;
	return at < 0 ? 0 : uint64_t(at);
}

uncore::result<void> output_file::commit(bool keep_old)
{
	struct stat old;

	if (!error_ && std::fflush(file_.get()))
		error_ = errno;
	if (error_)
		return broken(error_);
	if (!aside_.empty()) {
		std::string kept = target_ + ".old";

		// A quota or a server may refuse as late as this.
		if (int copy = dup(fileno(file_.get()));
		    copy < 0 || close(copy))
			return broken(errno);
		if (keep_old && !stat(target_.c_str(), &old) && old.st_size &&
		    rename(target_.c_str(), kept.c_str()))
			return broken(errno);
		if (rename(aside_.c_str(), target_.c_str()))
			return broken(errno);
		aside_.clear();
	}
	file_.reset();
	return {};
}

} // namespace cli
