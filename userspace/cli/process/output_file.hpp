// SPDX-License-Identifier: GPL-2.0-or-later
// Output files that the user names.  All writers open files with this class, which lets the
// kernel follow symbolic links.  So the kernel's protection of shared folders applies
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
	/// Create a file that appears complete or not at all: writes go to a
	/// file beside @p path, which commit() renames.  Writes to a device or
	/// a pipe are direct.
	/// Errors: errc::system.
	static uncore::result<output_file> create(const std::string &path,
						  mode_t mode);

	enum class content { replace, append };

	/// Open a file and write in place, as the shell's redirection does. The
	/// first write removes old content.
	/// Errors: errc::system.
	static uncore::result<output_file>
	open(const std::string &path, content old_content = content::replace);

	/// Create a file in /tmp without a name; closing the file removes the
	/// file.  commit() leaves the file open.
	/// Errors: errc::system.
	static uncore::result<output_file> unnamed();

	output_file(output_file &&) noexcept = default;
	output_file &operator=(output_file &&) = delete;
	/// Remove a file that was not committed, or a new file without a write.
	~output_file();

	/// Write.  error() and commit() report the first error.
	void write(const void *data, size_t size);
	void write(std::string_view text) { write(text.data(), text.size()); }
	void flush();
	/// Seek or tell.  error() reports errors of both; tell() is 0 then.
	void seek(uint64_t offset);
	uint64_t tell();
	bool failed() const { return error_ != 0; }
	/// The first error's errno, or 0.
	int error() const { return error_; }
	std::FILE *stream() const { return file_.get(); }

	/// Rename the file to its name.  A previous file of the name is removed
	/// or, with @p keep_old, renamed to the name with ".old".
	/// Errors: errc::system, also of earlier writes; no name changes then.
	uncore::result<void> commit(bool keep_old = false);

private:
	struct closer {
		void operator()(std::FILE *file) const { std::fclose(file); }
	};
	/// A name in an open folder, which stays the same folder when other
	/// users change the path.
	struct place {
		unique_fd folder;
		std::string name;
	};

	explicit output_file(std::string path) : path_(std::move(path)) {}
	uncore::error broken(int number) const;
	static int locate(const std::string &path, place &target);
	/// @return 0 or an errno.
	int create_temporary(mode_t mode, unique_fd &fd);
	int open_in_place(content old_content, unique_fd &fd);
	uncore::result<void> attach(unique_fd fd, const char *mode);
	void remove_old_content();

	std::string path_;
	place target_;
	/// Name in the target's folder until commit(); empty for a file that is
	/// written in place.
	std::string temporary_name_;
	std::unique_ptr<std::FILE, closer> file_;
	bool truncate_ = false;	 ///< remove old content at the first write
	bool empty_new_ = false; ///< open() created the file; no write yet
	int error_ = 0;		 ///< errno of the first error
};

} // namespace cli
