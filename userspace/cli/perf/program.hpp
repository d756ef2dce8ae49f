// SPDX-License-Identifier: GPL-2.0-or-later
// perf, the program: uncore becomes it, or reads what it prints.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>

namespace cli {

/// Replace this process by perf, which gets the caller's limit of open files.
/// @return only when it cannot be executed: errc::not_found, errc::system.
uncore::error become_perf(const std::vector<std::string> &arguments);

/// Run perf, and take its standard output line by line, without line ends.
/// Its standard error is printed when it has succeeded.
/// Errors: errc::not_found, errc::system; errc::invalid when perf fails, with
/// the first line of its standard error.
uncore::result<void>
read_perf(const std::vector<std::string> &arguments,
	  const std::function<void(std::string_view line)> &take);

} // namespace cli
