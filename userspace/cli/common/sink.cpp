// SPDX-License-Identifier: GPL-2.0-or-later
// Where the numbers of stat, metric and top go.
#include "common/sink.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "common/cli.hpp"

namespace cli {

void add_output(parser &command, std::string &path)
{
	command.add_option("-o,--output", path,
			   "Write to a file, not to standard output")
		.type_name("FILE");
}

uncore::result<void> sink::open(const std::string &path)
{
	if (path.empty())
		return {};
	name_ = path;
	file_ = std::fopen(path.c_str(), "we");
	if (!file_) {
		file_ = stdout;
		return uncore::error{
			uncore::errc::system,
			fmt::format("{}: {}", path, std::strerror(errno))};
	}
	return {};
}

sink::~sink()
{
	if (file_ != stdout)
		std::fclose(file_);
}

bool sink::write(std::string_view text)
{
	if (std::fwrite(text.data(), 1, text.size(), file_) == text.size() &&
	    !std::fflush(file_))
		return true;
	if (errno != EPIPE)
		note(fmt::format("{}: {}", name_, std::strerror(errno)));
	std::clearerr(file_);
	return false;
}

bool sink::show(std::string_view text)
{
	return write(fit(text, columns_of(file_)));
}

} // namespace cli
