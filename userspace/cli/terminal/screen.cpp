// SPDX-License-Identifier: GPL-2.0-or-later
// A terminal that shows one page of lines and takes keys.
#include "terminal/screen.hpp"

#include <clocale>
#include <cstdlib>
#include <string_view>

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "terminal/colour.hpp"
#include "terminal/layout.hpp"

// Included last: curses.h has macros for many words.
#include <curses.h>
#undef timeout
#undef erase

namespace cli {

/// Milliseconds to wait for the rest of an escape sequence after the byte ESC, enough for a
/// slow line.  The Escape key alone has the same byte, and is reported after this time.
static constexpr int escape_ms = 100;

bool has_utf8()
{
	std::setlocale(LC_CTYPE, "");
	return std::string_view(nl_langinfo(CODESET)) == "UTF-8";
}

std::unique_ptr<screen> screen::open()
{
	const char *name = std::getenv("TERM");

	if (!isatty(STDOUT_FILENO) || !name || std::string_view(name) == "dumb")
		return nullptr;
	// ncurses prints characters by the locale.  Names on the screen are UTF-8
	// also if the user's locale is not.
	if (!has_utf8())
		std::setlocale(LC_CTYPE, "C.UTF-8");
	// Unlike initscr(), newterm() does not end the program if the terminal
	// is unknown.
	SCREEN *terminal = newterm(name, stdout, stdin);

	if (!terminal)
		return nullptr;
	// A terminal that cannot move its cursor only prints lines.
	if (!tigetstr("cup")) {
		endwin();
		delscreen(terminal);
		return nullptr;
	}
	return std::unique_ptr<screen>(new screen(terminal));
}

screen::screen(void *terminal) : terminal_(terminal)
{
	cbreak();
	noecho();
	curs_set(0);
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(escape_ms);
	if (colour(stdout) && has_colors() && start_color() == OK &&
	    use_default_colors() == OK) {
		init_pair(1, COLOR_CYAN, -1);
		init_pair(2, COLOR_RED, -1);
		coloured_ = true;
	}
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

size_t screen::height() const
{
	return LINES > 0 ? LINES : 24;
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

unsigned screen::attributes(emphasis style) const
{
	switch (style) {
	case emphasis::bold:
		return A_BOLD;
	case emphasis::dim:
		return coloured_ ? COLOR_PAIR(1) : A_NORMAL;
	case emphasis::title:
		return A_REVERSE;
	case emphasis::warning:
		return A_BOLD | (coloured_ ? COLOR_PAIR(2) : 0);
	default:
		return A_NORMAL;
	}
}

void screen::draw(const std::vector<styled_line> &text)
{
	werase(stdscr);
	for (size_t i = 0; i < text.size() && i < height(); i++) {
		size_t column = 0;

		for (const styled_text &part : text[i]) {
			if (column >= width())
				break;

			const std::string visible_text =
				fit(part.text, width() - column);
			const unsigned style = attributes(part.how);

			wattr_on(stdscr, style, nullptr);
			mvwaddstr(stdscr, static_cast<int>(i),
				  static_cast<int>(column),
				  visible_text.c_str());
			wattr_off(stdscr, style, nullptr);
			column += cli::width(visible_text);
		}
	}
	wrefresh(stdscr);
}

int screen::key()
{
	const int key = wgetch(stdscr);

	switch (key) {
	case ERR:
		return -1;
	case KEY_UP:
		return up;
	case KEY_DOWN:
		return down;
	case KEY_LEFT:
		return left;
	case KEY_RIGHT:
		return right;
	case KEY_PPAGE:
		return page_up;
	case KEY_NPAGE:
		return page_down;
	case KEY_HOME:
		return home;
	case KEY_END:
		return end;
	case KEY_ENTER:
		return enter;
	case KEY_BACKSPACE:
	case 0x7f:
	case '\b':
		return backspace;
	default:
		return key;
	}
}

void screen::resize()
{
	winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row ||
	    !size.ws_col)
		return;
	resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

void screen::suspend()
{
	endwin();
}

void screen::resume()
{
	reset_prog_mode();
	resize();
	wrefresh(stdscr);
}

} // namespace cli
