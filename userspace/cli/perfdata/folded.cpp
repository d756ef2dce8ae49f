// SPDX-License-Identifier: GPL-2.0-or-later
#include "attribution/folded.hpp"

#include <algorithm>

#include "common/text.hpp"

namespace cli {

void add_frame(std::string &stack, std::string_view name)
{
	std::string frame = printable(name);

	std::replace(frame.begin(), frame.end(), ';', ':');
	if (!stack.empty())
		stack += ';';
	stack += frame.empty() ? "[unknown]" : frame;
}

} // namespace cli
