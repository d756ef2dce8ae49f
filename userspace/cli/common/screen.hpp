// SPDX-License-Identifier: GPL-2.0-or-later
// A terminal that shows one page of lines and takes keys (ncurses).
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace cli {

/// There is one at most; the terminal is put right when it goes.
class screen {
public:
	/// @return nothing where standard output is no terminal, or one that
	/// can do no more than print lines.
	static std::unique_ptr<screen> open();
	~screen();
	screen(const screen &) = delete;
	screen &operator=(const screen &) = delete;

	size_t width() const;
	/// Shows as many lines, and as much of them, as fit; line @p bold is
	/// emphasised.
	void draw(const std::vector<std::string> &lines, size_t bold);
	/// A key that was pressed, or -1; waits for none.
	int key();

private:
	/// @param terminal curses' SCREEN.
	explicit screen(void *terminal);

	void *terminal_;
};

} // namespace cli
