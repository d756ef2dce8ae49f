// SPDX-License-Identifier: LGPL-2.1-or-later
// fmt::format(), compiled once: as a header it is 4 seconds of work for the
// compiler in each file that calls it, and the library is to need no other at
// run time.
#pragma once

#include <string>

#include <fmt/core.h>

namespace uncore {

std::string format_arguments(fmt::string_view text, fmt::format_args arguments);

/// For numbers and strings; checked at compile time.
template <class... T>
std::string format(fmt::format_string<T...> text, T &&...arguments)
{
	return format_arguments(text, fmt::make_format_args(arguments...));
}

} // namespace uncore
