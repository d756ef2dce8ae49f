// SPDX-License-Identifier: GPL-2.0-or-later
// Where the numbers of stat, metric and top go.
#include "output/sink.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "output/message.hpp"
#include "terminal/layout.hpp"

namespace cli {

uncore::result<void> sink::open(const std::string &path,
				output_file::content old)
{
	if (path.empty())
		return {};
	name_ = path;

	auto made = output_file::open(path, old);

	if (!made)
		return made.error();
	output_.emplace(*std::move(made));
	return {};
}

void sink::use_standard_error()
{
	name_ = "standard error";
	standard_ = stderr;
}

bool sink::write(std::string_view text)
{
	int failed = 0;

	if (output_) {
		output_->write(text);
		output_->flush();
		failed = output_->error();
	} else if (std::fwrite(text.data(), 1, text.size(), standard_) !=
			   text.size() ||
		   std::fflush(standard_)) {
		failed = errno;
		std::clearerr(standard_);
	}
	if (failed && failed != EPIPE)
		note(fmt::format("{}: {}", name_, std::strerror(failed)));
	return !failed;
}

bool sink::show(std::string_view text)
{
	return write(wrap_lines(text, columns_of(file())));
}

} // namespace cli
