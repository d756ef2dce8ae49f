// SPDX-License-Identifier: LGPL-2.1-or-later
// Which libuncore a program runs with.
#include <uncore/version.hpp>

namespace uncore {

std::string_view version()
{
	return UNCORE_VERSION;
}

} // namespace uncore
