// SPDX-License-Identifier: GPL-2.0-or-later
// Output of the numbers of stat, metric and top.
#include "output/sink.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "output/message.hpp"
#include "terminal/layout.hpp"

namespace cli {

uncore::result<void> sink::open(const std::string &path,
				output_file::content old_content)
{
	if (path.empty())
		return {};
	name_ = path;

	auto opened = output_file::open(path, old_content);

	if (!opened)
		return opened.error();
	output_.emplace(*std::move(opened));
	return {};
}

void sink::use_standard_error()
{
	name_ = "standard error";
	standard_ = stderr;
}

bool sink::write(std::string_view text)
{
	int error_number = 0;

	if (output_) {
		output_->write(text);
		output_->flush();
		error_number = output_->error();
	} else if (std::fwrite(text.data(), 1, text.size(), standard_) !=
			   text.size() ||
		   std::fflush(standard_)) {
		error_number = errno;
		std::clearerr(standard_);
	}
	if (error_number && error_number != EPIPE)
		note(fmt::format("{}: {}", name_, std::strerror(error_number)));
	return !error_number;
}

bool sink::show(std::string_view text)
{
	return write(wrap_lines(text, columns_of(file())));
}

} // namespace cli
