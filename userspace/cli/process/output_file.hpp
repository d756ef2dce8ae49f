// SPDX-License-Identifier: GPL-2.0-or-later
// Files that the user names for output.  Every writer opens them here, so that
// symbolic links are followed by the kernel, under its rules
// (fs.protected_symlinks, fs.protected_regular).
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <uncore/error.hpp>

#include "process/unique_fd.hpp"

namespace cli {

class output_file {
public:
	/// Creates a file that appears whole or not at all: it is written
	/// beside @p path and renamed by commit().  A device or a pipe is
	/// opened and written to directly.
	/// Errors: errc::system.
	static uncore::result<output_file> create(const std::string &path,
						  mode_t mode);

	enum class content { replace, append };

	/// Opens a file that is written in place, as the shell's redirection
	/// does.  Old content is removed by the first write.
	/// Errors: errc::system.
	static uncore::result<output_file> open(const std::string &path,
						content old = content::replace);

	/// Creates a file in /tmp that has no name and is removed when it is
	/// closed.  commit() leaves it open.
	/// Errors: errc::system.
	static uncore::result<output_file> unnamed();

	output_file(output_file &&) noexcept = default;
	output_file &operator=(output_file &&) = delete;
	/// Removes a file that was not committed, or to which nothing was
	/// written.
	~output_file();

	/// The first error is kept, see error() and commit().
	void write(const void *data, size_t size);
	void write(std::string_view text) { write(text.data(), text.size()); }
	void flush();
	/// Errors of seek() and tell() are kept as well; tell() is 0 then.
	void seek(uint64_t offset);
	uint64_t tell();
	bool failed() const { return error_ != 0; }
	/// The first error's errno, 0 for none.
	int error() const { return error_; }
	std::FILE *stream() const { return file_.get(); }

	/// Gives the file its name; the file that had it before is removed or,
	/// with @p keep_old, gets ".old" behind its name.
	/// Errors: errc::system, also of any write before; nothing changes
	/// then.
	uncore::result<void> commit(bool keep_old = false);

private:
	struct closer {
		void operator()(std::FILE *file) const { std::fclose(file); }
	};
	/// A name in a folder that stays the same folder, whatever other users
	/// do with the path.
	struct place {
		unique_fd folder;
		std::string name;
	};

	explicit output_file(std::string path) : path_(std::move(path)) {}
	uncore::error broken(int number) const;
	static int locate(const std::string &path, place &at);
	/// @return 0 or an errno.
	int create_aside(mode_t mode, unique_fd &fd);
	int open_in_place(content old, unique_fd &fd);
	uncore::result<void> attach(unique_fd fd, const char *mode);
	void remove_old_content();

	std::string path_;
	place target_;
	/// Name in the target's folder, until it is committed; empty for a file
	/// that is written in place.
	std::string aside_;
	std::unique_ptr<std::FILE, closer> file_;
	bool truncate_ = false;	 ///< before the first write
	bool empty_new_ = false; ///< created here, nothing written yet
	int error_ = 0;
};

} // namespace cli
