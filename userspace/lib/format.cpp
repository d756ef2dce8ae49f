// SPDX-License-Identifier: LGPL-2.1-or-later
// Implementation of fmt for the library.
#define FMT_HEADER_ONLY
#include "format.hpp"

#include <fmt/format.h>

namespace uncore {

std::string format_arguments(fmt::string_view text, fmt::format_args arguments)
{
	return fmt::vformat(text, arguments);
}

} // namespace uncore
