// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/output_file.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace cli {

uncore::error output_file::broken(int number) const
{
	return {uncore::errc::system,
		fmt::format("{}: {}", path_, std::strerror(number))};
}

/// Split a path into an open folder and a name.
int output_file::locate(const std::string &path, place &at)
{
	const std::filesystem::path parts(path);
	const std::string parent = parts.parent_path().string();

	at.name = parts.filename().string();
	if (path.empty())
		return ENOENT;
	if (at.name.empty() || at.name == "." || at.name == "..")
		return EISDIR;
	at.folder = unique_fd(::open(parent.empty() ? "." : parent.c_str(),
				     O_PATH | O_DIRECTORY | O_CLOEXEC));
	return at.folder ? 0 : errno;
}

/// The regular file that a path names, and the folder that it is in.  The
/// kernel follows a symbolic link or refuses to; realpath() would follow any.
/// @return 0 or an errno; 0 and @p status.st_mode 0 if the file does not exist
/// yet.
static int follow(int folder, const std::string &name, struct stat &status,
		  std::string &path)
{
	status = {};
	if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : errno;
	if (!S_ISLNK(status.st_mode))
		return 0;
	status = {};

	const unique_fd file(openat(folder, name.c_str(), O_PATH | O_CLOEXEC));
	char whole[PATH_MAX];

	// A link to a file that does not exist is replaced.
	if (!file)
		return errno == ENOENT ? 0 : errno;
	if (fstat(file.get(), &status))
		return errno;
	if (!S_ISREG(status.st_mode))
		return 0;

	const ssize_t size =
		readlink(fmt::format("/proc/self/fd/{}", file.get()).c_str(),
			 whole, sizeof(whole));

	if (size < 0)
		return errno;
	path.assign(whole, size_t(size));
	return 0;
}

/// Create a file beside the target, which no other user can have prepared.
int output_file::create_aside(mode_t mode, unique_fd &fd)
{
	for (int tries = 0; tries < 100; tries++) {
		uint32_t number = 0;

		if (getrandom(&number, sizeof(number), 0) < 0)
			return errno;

		std::string name =
			fmt::format("{}.{:08x}", target_.name, number);

		fd = unique_fd(openat(target_.folder.get(), name.c_str(),
				      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW |
					      O_CLOEXEC,
				      mode));
		if (fd) {
			aside_ = std::move(name);
			return 0;
		}
		if (errno != EEXIST)
			return errno;
	}
	return EEXIST;
}

uncore::result<void> output_file::attach(unique_fd fd, const char *mode)
{
	file_.reset(fdopen(fd.get(), mode));
	if (!file_)
		return broken(errno);
	fd.release();
	return {};
}

uncore::result<output_file> output_file::create(const std::string &path,
						mode_t mode)
{
	output_file made(path);
	struct stat status, found;
	std::string whole;
	unique_fd fd;
	int failed = locate(path, made.target_);

	if (!failed)
		failed = follow(made.target_.folder.get(), made.target_.name,
				status, whole);
	if (!failed && !whole.empty()) {
		failed = locate(whole, made.target_);
		// Another user may have moved it in between.
		if (!failed && (fstatat(made.target_.folder.get(),
					made.target_.name.c_str(), &found,
					AT_SYMLINK_NOFOLLOW) ||
				found.st_dev != status.st_dev ||
				found.st_ino != status.st_ino))
			failed = ESTALE;
	}
	if (!failed && S_ISDIR(status.st_mode))
		failed = EISDIR;
	if (failed)
		return made.broken(failed);
	if (!status.st_mode || S_ISREG(status.st_mode)) {
		failed = made.create_aside(mode, fd);
	} else {
		fd = unique_fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
		failed = fd ? 0 : errno;
	}
	if (failed)
		return made.broken(failed);
	if (auto done = made.attach(std::move(fd), "wb"); !done)
		return done.error();
	return made;
}

int output_file::open_in_place(content old, unique_fd &fd)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC |
			  (old == content::append ? O_APPEND : 0);
	struct stat status;

	fd = unique_fd(openat(target_.folder.get(), target_.name.c_str(),
			      flags | O_EXCL, 0666));
	empty_new_ = bool(fd);
	if (!fd && errno == EEXIST)
		fd = unique_fd(::open(path_.c_str(), flags, 0666));
	if (!fd || fstat(fd.get(), &status))
		return errno;
	truncate_ = old == content::replace && S_ISREG(status.st_mode);
	return 0;
}

uncore::result<output_file> output_file::open(const std::string &path,
					      content old)
{
	output_file made(path);
	unique_fd fd;
	int failed = locate(path, made.target_);

	if (!failed)
		failed = made.open_in_place(old, fd);
	if (failed)
		return made.broken(failed);
	if (auto done = made.attach(std::move(fd),
				    old == content::append ? "ab" : "wb");
	    !done)
		return done.error();
	return made;
}

uncore::result<output_file> output_file::unnamed()
{
	output_file made("temporary file in " P_tmpdir);

	made.file_.reset(std::tmpfile());
	if (!made.file_ ||
	    fcntl(fileno(made.file_.get()), F_SETFD, FD_CLOEXEC))
		return made.broken(errno);
	return made;
}

output_file::~output_file()
{
	if (!file_)
		return;
	if (!aside_.empty())
		unlinkat(target_.folder.get(), aside_.c_str(), 0);
	else if (empty_new_)
		unlinkat(target_.folder.get(), target_.name.c_str(), 0);
}

void output_file::remove_old_content()
{
	if (truncate_ && ftruncate(fileno(file_.get()), 0))
		error_ = errno;
	truncate_ = empty_new_ = false;
}

void output_file::write(const void *data, size_t size)
{
	if (truncate_ || empty_new_)
		remove_old_content();
	if (!error_ && std::fwrite(data, 1, size, file_.get()) != size)
		error_ = errno ? errno : EIO;
}

void output_file::flush()
{
	if (!error_ && std::fflush(file_.get()))
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
	const int folder = target_.folder.get();
	const char *name = target_.name.c_str();
	struct stat old;

	flush();
	if (error_)
		return broken(error_);
	// Without a name.
	if (!target_.folder)
		return {};
	if (!aside_.empty()) {
		const std::string kept = target_.name + ".old";

		// A quota or a server may refuse as late as this.
		if (int copy = dup(fileno(file_.get()));
		    copy < 0 || ::close(copy))
			return broken(errno);
		if (keep_old &&
		    !fstatat(folder, name, &old, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(old.st_mode) && old.st_size &&
		    renameat(folder, name, folder, kept.c_str()))
			return broken(errno);
		if (renameat(folder, aside_.c_str(), folder, name))
			return broken(errno);
		aside_.clear();
	}
	file_.reset();
	return {};
}

} // namespace cli
