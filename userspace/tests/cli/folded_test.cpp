// SPDX-License-Identifier: GPL-2.0-or-later
// Names in folded stacks, which other users choose.
#include "perfdata/folded.hpp"

#include <gtest/gtest.h>

namespace {

std::string stack(std::initializer_list<std::string_view> names)
{
	std::string made;

	for (const std::string_view name : names)
		cli::add_frame(made, name);
	return made;
}

TEST(Folded, FramesInOrder)
{
	EXPECT_EQ(stack({"task", "main", "operator new"}),
		  "task;main;operator new");
}

TEST(Folded, ForgedNames)
{
	EXPECT_EQ(stack({"init;main;idle", "f"}), "init:main:idle;f");
	EXPECT_EQ(stack({"a 1\nroot", "f"}), "a 1?root;f");
	EXPECT_EQ(stack({"\x1b[2J", "f\r"}), "?[2J;f?");
	EXPECT_EQ(stack({"", ""}), "[unknown];[unknown]");
	EXPECT_EQ(stack({"\xc2\x9b"
			 "2J"}),
		  "?2J");
}

} // namespace
