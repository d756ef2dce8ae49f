// SPDX-License-Identifier: GPL-2.0-or-later
// A terminal that shows one page of lines and takes keys.
#include "common/screen.hpp"

#include <clocale>
#include <cstdlib>
#include <string_view>

#include <langinfo.h>
#include <unistd.h>

#include "common/cli.hpp"

// After the others: it has macros for many words.
#include <curses.h>
#undef timeout
#undef erase

namespace cli {

std::unique_ptr<screen> screen::open()
{
	const char *name = std::getenv("TERM");

	if (!isatty(STDOUT_FILENO) || !name || std::string_view(name) == "dumb")
		return nullptr;
	// Names are UTF-8, also where nobody has said so.
	std::setlocale(LC_CTYPE, "");
	if (std::string_view(nl_langinfo(CODESET)) != "UTF-8")
		std::setlocale(LC_CTYPE, "C.UTF-8");
	// Unlike initscr(), it does not end the program where it knows no such
	// terminal.
	SCREEN *terminal = newterm(name, stdout, stdin);

	if (!terminal)
		return nullptr;
	return std::unique_ptr<screen>(new screen(terminal));
}

screen::screen(void *terminal) : terminal_(terminal)
{
	cbreak();
	noecho();
	curs_set(0);
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
}

screen::~screen()
{
	endwin();
	delscreen(static_cast<SCREEN *>(terminal_));
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
		mvwaddstr(stdscr, static_cast<int>(i), 0,
			  fit(lines[i], width()).c_str());
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
