// SPDX-License-Identifier: GPL-2.0-or-later
// A terminal that shows one page of lines and takes keys (ncurses).
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace cli {

/// How a part of a line is emphasised; colour is never all that there is.
enum class emphasis { none, bold, dim, title, warning };

struct styled_text {
	std::string text;
	emphasis how = emphasis::none;
};
using styled_line = std::vector<styled_text>;

/// Does the user's locale have UTF-8?  To be asked before there is a screen.
bool has_utf8();

/// There is one at most; the terminal is put right when it goes.
class screen {
public:
	/// @return nothing where standard output is not a terminal, or one that
	/// only prints lines.
	static std::unique_ptr<screen> open();
	~screen();
	screen(const screen &) = delete;
	screen &operator=(const screen &) = delete;

	/// Keys beside characters; a key of one byte is that byte.
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
	/// Shows as many lines, and as much of them, as fit; line @p bold is
	/// emphasised.
	void draw(const std::vector<std::string> &lines, size_t bold);
	/// The same, with emphasis.
	void draw(const std::vector<styled_line> &lines);
	/// A key that was pressed, or -1; waits for none.
	int key();

	/// Takes the size that the terminal has now (SIGWINCH).
	void resize();
	/// Gives the terminal back as it was, until resume().
	void suspend();
	void resume();

private:
	/// @param terminal curses' SCREEN.
	explicit screen(void *terminal);

	/// curses' attributes
	unsigned attributes(emphasis how) const;

	void *terminal_;
	bool coloured_ = false;
};

} // namespace cli
