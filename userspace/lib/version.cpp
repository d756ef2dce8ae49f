// SPDX-License-Identifier: LGPL-2.1-or-later
// Version of the libuncore that a program runs with.
#include <uncore/version.hpp>

namespace uncore {

std::string_view version()
{
	return UNCORE_VERSION;
}

} // namespace uncore
