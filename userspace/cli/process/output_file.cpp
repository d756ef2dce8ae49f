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
int output_file::locate(const std::string &path, place &target)
{
	const std::filesystem::path parts(path);
	const std::string parent = parts.parent_path().string();

	target.name = parts.filename().string();
	if (path.empty())
		return ENOENT;
	if (target.name.empty() || target.name == "." || target.name == "..")
		return EISDIR;
	target.folder = unique_fd(::open(parent.empty() ? "." : parent.c_str(),
					 O_PATH | O_DIRECTORY | O_CLOEXEC));
	return target.folder ? 0 : errno;
}

/// Get the status of a file.  If it is a symbolic link to a regular file, get also the path
/// of that file: commit() has to replace the file, not the link.  The kernel follows the
/// link, as it may refuse to; realpath() would follow any link.
/// @return 0 or an errno; 0 and @p status.st_mode 0 if the file does not exist yet.
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
	char target[PATH_MAX];

	// A link to a file that does not exist is replaced.
	if (!file)
		return errno == ENOENT ? 0 : errno;
	if (fstat(file.get(), &status))
		return errno;
	if (!S_ISREG(status.st_mode))
		return 0;

	const ssize_t size =
		readlink(fmt::format("/proc/self/fd/{}", file.get()).c_str(),
			 target, sizeof(target));

	if (size < 0)
		return errno;
	path.assign(target, size_t(size));
	return 0;
}

/// Create a file beside the target with a random name, so that another user cannot create
/// a file or link of this name before.
int output_file::create_temporary(mode_t mode, unique_fd &fd)
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
			temporary_name_ = std::move(name);
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
	output_file output(path);
	struct stat status, target_status;
	std::string link_target;
	unique_fd fd;
	int error_number = locate(path, output.target_);

	if (!error_number)
		error_number = follow(output.target_.folder.get(),
				      output.target_.name, status, link_target);
	if (!error_number && !link_target.empty()) {
		error_number = locate(link_target, output.target_);
		// Another user may have moved the file since follow().
		if (!error_number &&
		    (fstatat(output.target_.folder.get(),
			     output.target_.name.c_str(), &target_status,
			     AT_SYMLINK_NOFOLLOW) ||
		     target_status.st_dev != status.st_dev ||
		     target_status.st_ino != status.st_ino))
			error_number = ESTALE;
	}
	if (!error_number && S_ISDIR(status.st_mode))
		error_number = EISDIR;
	if (error_number)
		return output.broken(error_number);
	if (!status.st_mode || S_ISREG(status.st_mode)) {
		error_number = output.create_temporary(mode, fd);
	} else {
		fd = unique_fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
		error_number = fd ? 0 : errno;
	}
	if (error_number)
		return output.broken(error_number);
	if (auto attached = output.attach(std::move(fd), "wb"); !attached)
		return attached.error();
	return output;
}

int output_file::open_in_place(content old_content, unique_fd &fd)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC |
			  (old_content == content::append ? O_APPEND : 0);
	struct stat status;

	fd = unique_fd(openat(target_.folder.get(), target_.name.c_str(),
			      flags | O_EXCL, 0666));
	empty_new_ = bool(fd);
	if (!fd && errno == EEXIST)
		fd = unique_fd(::open(path_.c_str(), flags, 0666));
	if (!fd || fstat(fd.get(), &status))
		return errno;
	truncate_ = old_content == content::replace && S_ISREG(status.st_mode);
	return 0;
}

uncore::result<output_file> output_file::open(const std::string &path,
					      content old_content)
{
	output_file output(path);
	unique_fd fd;
	int error_number = locate(path, output.target_);

	if (!error_number)
		error_number = output.open_in_place(old_content, fd);
	if (error_number)
		return output.broken(error_number);
	if (auto attached =
		    output.attach(std::move(fd),
				  old_content == content::append ? "ab" : "wb");
	    !attached)
		return attached.error();
	return output;
}

uncore::result<output_file> output_file::unnamed()
{
	output_file output("temporary file in " P_tmpdir);

	output.file_.reset(std::tmpfile());
	if (!output.file_ ||
	    fcntl(fileno(output.file_.get()), F_SETFD, FD_CLOEXEC))
		return output.broken(errno);
	return output;
}

output_file::~output_file()
{
	if (!file_)
		return;
	if (!temporary_name_.empty())
		unlinkat(target_.folder.get(), temporary_name_.c_str(), 0);
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
	off_t position = error_ ? 0 : ftello(file_.get());

	if (position < 0)
		error_ = errno;
	return position < 0 ? 0 : uint64_t(position);
}

uncore::result<void> output_file::commit(bool keep_old)
{
	const int folder = target_.folder.get();
	const char *name = target_.name.c_str();
	struct stat old_status;

	flush();
	if (error_)
		return broken(error_);
	// A file of unnamed() stays open.
	if (!target_.folder)
		return {};
	if (!temporary_name_.empty()) {
		const std::string old_name = target_.name + ".old";

		// A quota or a file server may report a failed write only at
		// close(): close a copy of the descriptor before the rename.
		if (int copy = dup(fileno(file_.get()));
		    copy < 0 || ::close(copy))
			return broken(errno);
		if (keep_old &&
		    !fstatat(folder, name, &old_status, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(old_status.st_mode) && old_status.st_size &&
		    renameat(folder, name, folder, old_name.c_str()))
			return broken(errno);
		if (renameat(folder, temporary_name_.c_str(), folder, name))
			return broken(errno);
		temporary_name_.clear();
	}
	file_.reset();
	return {};
}

} // namespace cli
