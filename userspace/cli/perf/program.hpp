// SPDX-License-Identifier: GPL-2.0-or-later
// Executes the perf program, in place of uncore or with uncore reading perf's output.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>

namespace cli {

/// Replace this process by perf, with the limit of open files that uncore was started
/// with.
/// @return only if perf cannot be executed: errc::not_found, errc::system.
uncore::error become_perf(const std::vector<std::string> &arguments);

/// Run perf, and pass the lines of its standard output to @p take, without line
/// ends.  After success, print perf's standard error.
/// Errors: errc::not_found, errc::system; errc::invalid when perf fails, with
/// the first line of its standard error.
uncore::result<void>
read_perf(const std::vector<std::string> &arguments,
	  const std::function<void(std::string_view line)> &take);

} // namespace cli
