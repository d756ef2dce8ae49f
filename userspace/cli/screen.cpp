// SPDX-License-Identifier: GPL-2.0-or-later
// A terminal that shows one page of lines and takes keys.
#include "screen.hpp"

#include <clocale>

#include <curses.h>
// It has these as macros.
#undef timeout
#undef erase

namespace cli {

screen::screen()
{
	std::setlocale(LC_CTYPE, "");
	initscr();
	cbreak();
	noecho();
	curs_set(0);
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
}

screen::~screen()
{
	endwin();
}

size_t screen::width() const
{
	return COLS > 0 ? COLS : 80;
}

void screen::draw(const std::vector<std::string> &lines, size_t bold)
{
	werase(stdscr);
	for (size_t i = 0; i < lines.size() && i < static_cast<size_t>(LINES);
	     i++) {
		if (i == bold)
			wattr_on(stdscr, A_BOLD, nullptr);
		mvwaddnstr(stdscr, static_cast<int>(i), 0, lines[i].c_str(),
			   COLS);
		if (i == bold)
			wattr_off(stdscr, A_BOLD, nullptr);
	}
	wrefresh(stdscr);
}

int screen::key()
{
	int key = wgetch(stdscr);

	return key == ERR ? -1 : key;
}

} // namespace cli
