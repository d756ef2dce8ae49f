// SPDX-License-Identifier: LGPL-2.1-or-later
// fmt::format(), compiled once: as a header, fmt takes the compiler 4 seconds
// in each file, and libuncore must not depend on libfmt at run time.
#pragma once

#include <string>

#include <fmt/core.h>

namespace uncore {

std::string format_arguments(fmt::string_view text, fmt::format_args arguments);

/// Format numbers and strings; the compiler checks the format string.
template <class... T>
std::string format(fmt::format_string<T...> text, T &&...arguments)
{
	return format_arguments(text, fmt::make_format_args(arguments...));
}

} // namespace uncore
