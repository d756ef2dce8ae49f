// SPDX-License-Identifier: LGPL-2.1-or-later
// Test result: it has a value or an error, its value can be moved out, and taking what
// it does not have ends the program.
#include <gtest/gtest.h>

#include <memory>

#include <uncore/error.hpp>

using namespace uncore;

TEST(result, value)
{
	result<int> seven = 7;

	ASSERT_TRUE(seven);
	EXPECT_EQ(*seven, 7);
}

TEST(result, moves_what_cannot_be_copied)
{
	result<std::unique_ptr<int>> owner = std::make_unique<int>(3);

	ASSERT_TRUE(owner);
	std::unique_ptr<int> taken = *std::move(owner);
	EXPECT_EQ(*taken, 3);
}

TEST(result, error)
{
	result<int> none = error{errc::not_found, "no such event"};
	result<void> nothing = error{errc::gone, "CPU 1 went offline"};

	EXPECT_FALSE(none);
	EXPECT_EQ(none.error().code, errc::not_found);
	EXPECT_EQ(none.error().message, "no such event");
	EXPECT_FALSE(nothing);
	EXPECT_EQ(nothing.error().code, errc::gone);
	EXPECT_TRUE(result<void>());
}

TEST(result, misuse_ends_the_program)
{
	result<int> seven = 7, none = error{errc::gone, "CPU 1 is offline"};
	result<void> done;

	EXPECT_DEATH((void)*none,
		     "of a result that is an error: CPU 1 is offline");
	EXPECT_DEATH((void)seven.error(), "a result that has a value");
	EXPECT_DEATH((void)done.error(), "a result that is none");
}
