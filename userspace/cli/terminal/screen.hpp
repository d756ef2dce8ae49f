// SPDX-License-Identifier: GPL-2.0-or-later
// A terminal that shows one page of lines and takes keys (ncurses).
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace cli {

/// Emphasis of a part of a line, never by colour alone.
enum class emphasis { none, bold, dim, title, warning };

struct styled_text {
	std::string text;
	emphasis how = emphasis::none;
};
using styled_line = std::vector<styled_text>;

/// Return whether the user's locale has UTF-8.  Call before opening a screen.
bool has_utf8();

/// The only screen of the terminal; the destructor restores the terminal.
class screen {
public:
	/// @return nullptr if standard output is not a terminal, or is a
	/// terminal that only prints lines.
	static std::unique_ptr<screen> open();
	~screen();
	screen(const screen &) = delete;
	screen &operator=(const screen &) = delete;

	/// Keys that are not characters; the key of a byte is the byte.
	enum : int {
		up = 0x1000,
		down,
		left,
		right,
		page_up,
		page_down,
		home,
		end,
		enter,
		backspace,
		escape = 0x1b
	};

	size_t width() const;
	size_t height() const;
	/// Show the lines, cut to the screen, with emphasis of line @p bold.
	void draw(const std::vector<std::string> &lines, size_t bold);
	/// Show lines with emphasis of their parts.
	void draw(const std::vector<styled_line> &lines);
	/// Return a pressed key, or -1 without waiting.
	int key();

	/// Adopt the terminal's current size (SIGWINCH).
	void resize();
	/// Restore the terminal's state until resume().
	void suspend();
	void resume();

private:
	/// @param terminal curses' SCREEN.
	explicit screen(void *terminal);

	/// Return curses' attributes of an emphasis.
	unsigned attributes(emphasis style) const;

	void *terminal_;
	bool coloured_ = false;
};

} // namespace cli
