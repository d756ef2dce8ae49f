// SPDX-License-Identifier: GPL-2.0-or-later
// A file that is there whole or not at all: written aside, and renamed when
// everything is in it.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <uncore/error.hpp>

namespace cli {

class output_file {
public:
	/// Makes a file beside @p path.  What is no regular file (a device, a
	/// pipe) is opened and written to directly.
	/// Errors: errc::system.
	static uncore::result<output_file> create(const std::string &path,
						  mode_t mode);
	output_file(output_file &&) noexcept = default;
	output_file &operator=(output_file &&) = delete;
	/// Takes back what was not committed.
	~output_file();

	/// The first error is kept, see failed() and commit().
	void write(const void *data, size_t size);
	void write(std::string_view text) { write(text.data(), text.size()); }
	/// Errors of seek() and tell() are kept as well; tell() is 0 then.
	void seek(uint64_t offset);
	uint64_t tell();
	bool failed() const { return error_ != 0; }

	/// Gives it its name; what had that name before is lost or, with
	/// @p keep_old, has ".old" behind.
	/// Errors: errc::system, also of any write before; nothing changes
	/// then.
	uncore::result<void> commit(bool keep_old = false);

private:
	struct closer {
		void operator()(std::FILE *file) const { std::fclose(file); }
	};

	explicit output_file(std::string path) : path_(std::move(path)) {}
	uncore::error broken(int number) const;

	std::string path_;
	std::string target_; ///< path_ without symbolic links
	std::string aside_;  ///< empty: written directly, or committed
	std::unique_ptr<std::FILE, closer> file_;
	int error_ = 0;
};

} // namespace cli
