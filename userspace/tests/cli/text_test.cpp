// SPDX-License-Identifier: GPL-2.0-or-later
// Test the text that is printed for names chosen by other users.
#include "terminal/text.hpp"

#include <gtest/gtest.h>

using cli::printable;
using namespace std::string_literals;

TEST(Printable, KeepsText)
{
	for (const char *text :
	     {"", "python3", "a b;c", "héllo", "日本語", "🙂"})
		EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharacters)
{
	EXPECT_EQ(printable("a\033[2Jb"), "a?[2Jb");
	EXPECT_EQ(printable("a\r\n\tb\x7f"), "a???b?");
	EXPECT_EQ(printable("a\0b"s), "a?b");
	// CSI as a single character (C1), which some terminals execute
	EXPECT_EQ(printable("a\xc2\x9b"
			    "2J"),
		  "a?2J");
}

TEST(Printable, DirectionAndLines)
{
	EXPECT_EQ(printable("a\u202eb\u2028c\u2066d"), "a?b?c?d");
}

TEST(Printable, NotUtf8)
{
	EXPECT_EQ(printable("\xff\xfe"), "??");
	EXPECT_EQ(printable("\xc3"), "?");	     // cut off
	EXPECT_EQ(printable("\xc3("), "?(");	     // wrong second byte
	EXPECT_EQ(printable("\xc0\xaf"), "??");	     // a slash in 2 bytes
	EXPECT_EQ(printable("\xe0\x80\xaf"), "???"); // a slash in 3 bytes
	EXPECT_EQ(printable("\xed\xa0\x80"), "???"); // half a surrogate pair
	EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????"); // after U+10FFFF
	EXPECT_EQ(printable("\x80x"), "?x");
	EXPECT_EQ(printable("\xef\xbf\xbe"), "?"); // U+FFFE
}
