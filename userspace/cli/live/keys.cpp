// SPDX-License-Identifier: GPL-2.0-or-later
// Changes the user's choices in uncore live by keys.
#include "live/state.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "terminal/screen.hpp"

namespace cli {

namespace {

/// Edit the filter that the user types.
reaction type(live_state &state, int key)
{
	std::string &text = state.filter();

	switch (key) {
	case '\n':
	case '\r':
	case screen::enter:
		state.typing = false;
		break;
	case screen::escape:
		text.clear();
		state.typing = false;
		break;
	case screen::backspace:
		// The last character can have several bytes.
		while (!text.empty() && (text.back() & 0xc0) == 0x80)
			text.pop_back();
		if (!text.empty())
			text.pop_back();
		break;
	default:
		if (key < ' ' || key > 0xff)
			return reaction::none;
		text += static_cast<char>(key);
	}
	state.first() = 0;
	return reaction::redraw;
}

void choose_next_sort_key(live_state &state)
{
	static constexpr std::array<std::string_view, 6> keys = {
		"memory", "read", "write", "cpu", "pid", "name"};
	const auto position = std::find(keys.begin(), keys.end(), state.sort);

	state.sort = position == keys.end() || position + 1 == keys.end()
			     ? keys.front()
			     : *(position + 1);
}

/// Scroll up or down by @p rows.
void scroll(size_t &first, size_t rows, bool up)
{
	first = !up ? first + rows : first > rows ? first - rows : 0;
}

/// Scroll rows or sockets.
/// @return whether the key is a key for scrolling.
bool move(live_state &state, int key, size_t page)
{
	switch (key) {
	case screen::up:
		scroll(state.first(), 1, true);
		return true;
	case screen::down:
		scroll(state.first(), 1, false);
		return true;
	case screen::page_up:
		scroll(state.first(), page, true);
		return true;
	case screen::page_down:
		scroll(state.first(), page, false);
		return true;
	case screen::home:
		state.first() = 0;
		return true;
	case screen::end:
		// Far beyond the last row; make_page() reduces the number.
		scroll(state.first(), 1 << 20, false);
		return true;
	case screen::left:
		scroll(state.first_socket, 1, true);
		return true;
	case screen::right:
		scroll(state.first_socket, 1, false);
		return true;
	}
	return false;
}

} // namespace

reaction react(live_state &state, int key, size_t page)
{
	if (state.typing)
		return type(state, key);
	if (move(state, key, page))
		return reaction::redraw;
	switch (key) {
	case 'q':
		return reaction::quit;
	case 'h':
	case '?':
		state.help = !state.help;
		break;
	case screen::escape:
		state.help = false;
		state.filter().clear();
		break;
	case ' ':
		state.paused = !state.paused;
		break;
	case '/':
		state.help = false;
		state.filter().clear();
		state.typing = true;
		break;
	case '\t':
		state.focus = state.focus == pane::tasks ? pane::numbers
							 : pane::tasks;
		break;
	case 's':
		choose_next_sort_key(state);
		break;
	case 'r':
		state.reverse = !state.reverse;
		break;
	case 'b':
		state.by = state.by == top_by::task	 ? top_by::process
			   : state.by == top_by::process ? top_by::cgroup
							 : top_by::task;
		break;
	case 'd':
		state.rows = state.rows == detail::by_room ? detail::large
			     : state.rows == detail::large ? detail::small
							   : detail::by_room;
		break;
	default:
		return reaction::none;
	}
	return reaction::redraw;
}

} // namespace cli
