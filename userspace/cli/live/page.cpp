// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the lines of uncore live's page.  From top to bottom: a title, a verdict on each
// socket (limits.hpp), the numbers with a column for each socket, the tasks, and the
// keys.  With --once the page is endless: it has as many lines as necessary, and no keys.
#include "live/page.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "output/number.hpp"
#include "terminal/layout.hpp"
#include "terminal/text.hpp"

namespace cli {

namespace {

/// Widths in columns of the terminal: of a row's label; of the value and the share of a
/// socket, after which the history has the remaining columns; of a socket.
constexpr size_t label_columns = 14;
constexpr size_t value_columns = 10, share_columns = 6;
constexpr size_t least_socket = 26, usual_socket = 33;
/// Lines of the smallest terminal.
constexpr size_t least_lines = 8;
/// Width of the socket's number before a verdict.
constexpr size_t verdict_indent = 5;
/// Least lines of the tasks, if the terminal has room: titles, total, idle and a few
/// tasks.
constexpr size_t few_tasks = 7;
/// Share from which a number is marked as near its limit.
constexpr double nearly_full = 0.8;

constexpr const char *help_text[] = {
	"q            quit",
	"space        pause: the page stops, counting continues",
	"arrows       scroll rows, and sockets; PgUp, PgDn, Home, End too",
	"Tab          the pane to scroll and filter: tasks or numbers",
	"/            show rows with some text; Enter keeps, Escape drops it",
	"s            sort tasks by memory, read, write, cpu, pid, name",
	"r            the other way round",
	"b            by task, process or cgroup",
	"d            each box, or a row for all, or as there is room",
	"h            this help",
	"",
	"%            Memory, QPI: of the most that is possible (! from 80).",
	"             remote: of the misses.",
	"Active cores a mean; Held by: of the time, power or heat kept the",
	"             cores' frequency down.",
	"-            not known: nothing was counted, or a driver or CPU is "
	"gone",
	"dead         the box does not answer, or has stopped counting",
};

std::string padded(std::string text, size_t columns, bool right = false)
{
	const size_t text_width = width(text);
	const std::string pad(text_width < columns ? columns - text_width : 0,
			      ' ');

	return right ? pad + text : text + pad;
}

/// Replace other characters, for a terminal whose locale has only ASCII.
std::string ascii(std::string_view text)
{
	std::string plain;

	for (const char c : text)
		if ((c & 0xc0) != 0x80) // not a continuation byte
			plain += c & 0x80 ? '?' : c;
	return plain;
}

bool contains(std::string_view text, std::string_view part)
{
	return lower(text).find(lower(part)) != std::string::npos;
}

std::string value_text(const live_cell &cell, measure unit)
{
	if (cell.dead)
		return "dead";
	if (!std::isfinite(cell.value))
		return unit == measure::share && !cell.parts.empty() ? "" : "-";
	switch (unit) {
	case measure::bytes:
		return short_number(cell.value, true) + "B/s";
	case measure::events:
		return short_number(cell.value) + "/s";
	case measure::hertz:
		return short_number(cell.value) + "Hz";
	case measure::share:
		return fmt::format("{:.1f}%", 100 * cell.value);
	default:
		return fmt::format("{:.1f}", cell.value);
	}
}

std::string share_text(double share, bool fills)
{
	if (!std::isfinite(share))
		return "";
	return fmt::format("{:.0f}%{}", 100 * share,
			   fills && share >= nearly_full ? "!" : " ");
}

/// Format the share of each box.  Many shares are narrower, and without %.
std::string parts_text(const live_cell &cell, size_t columns)
{
	constexpr size_t usual = 5;
	const size_t part_columns = std::min(
		usual, columns / std::max<size_t>(1, cell.parts.size()));
	std::string text;

	for (const double part : cell.parts)
		text += padded(!std::isfinite(part) ? "-"
			       : part_columns < usual
				       ? fmt::format("{:.0f}", 100 * part)
				       : fmt::format("{:.0f}%", 100 * part),
			       part_columns, true);
	return fit(text, columns);
}

/// Builder of a page.
class layout {
public:
	layout(const live_content &content, live_state &state,
	       cgroup_names &cgroups, const page_size &size)
		: content_(content), state_(state), cgroups_(cgroups),
		  size_(size)
	{
	}

	std::vector<styled_line> make();

private:
	void choose_sockets();
	void choose_rows();
	void choose_tasks();

	styled_line title() const;
	void add_verdicts();
	std::string short_text(const judgement &verdict, size_t columns) const;
	void add_verdict(int socket, const judgement &verdict, size_t &room);
	std::string top_of(int socket) const;
	styled_line headings() const;
	styled_line number_line(const live_row &row, double maximum) const;
	void add_numbers(size_t room);
	void add_tasks(size_t room);
	styled_line bottom() const;
	void add_help();
	/// @return lines for numbers and tasks.
	std::pair<size_t, size_t> divide(size_t room) const;

	std::vector<const live_row *> rows_with(bool each_box) const;
	void add(std::string text, emphasis style = emphasis::none)
	{
		page_.push_back({{std::move(text), style}});
	}
	bool endless() const { return !size_.lines; }
	const char *bar() const { return size_.utf8 ? "│" : "|"; }

	const live_content &content_;
	live_state &state_;
	cgroup_names &cgroups_;
	const page_size &size_;
	std::vector<styled_line> page_;
	std::vector<int> sockets_; ///< shown sockets
	size_t socket_columns_ = usual_socket;
	std::vector<const live_row *> rows_;
	/// Titles and sums; a line per task.
	std::vector<std::string> task_head_, task_rows_;
};

// --- choices that depend on the size

void layout::choose_sockets()
{
	const std::set<int> &sockets = content_.numbers.sockets();
	const size_t room = size_.columns - label_columns;
	size_t n = std::min(std::max<size_t>(1, room / usual_socket),
			    std::max<size_t>(1, sockets.size()));

	// If only one socket of the usual width fits, try two narrow sockets.
	if (n == 1 && sockets.size() > 1 && room / least_socket > 1)
		n = 2;
	// An endless page has no history.
	socket_columns_ =
		endless() ? value_columns + share_columns + 4 : room / n;
	state_.first_socket =
		std::min(state_.first_socket,
			 sockets.size() > n ? sockets.size() - n : size_t(0));

	auto socket = sockets.begin();

	std::advance(socket, std::min(state_.first_socket, sockets.size()));
	for (; socket != sockets.end() && sockets_.size() < n; ++socket)
		sockets_.push_back(*socket);
}

/// List the rows that pass the filter, with a row for each box or a row for all.
std::vector<const live_row *> layout::rows_with(bool each_box) const
{
	std::vector<const live_row *> chosen;

	for (const live_row &row : content_.numbers.rows()) {
		const bool fits = row.room == row_room::any ||
				  (row.room == row_room::large) == each_box;

		if (fits && contains(row.label, state_.number_filter))
			chosen.push_back(&row);
	}
	return chosen;
}

void layout::choose_rows()
{
	const size_t tasks = content_.tasks ? few_tasks + 3 : 1;
	// 3: headings, message and keys
	const size_t other_lines = tasks + page_.size() + 3;
	const auto rows = rows_with(true);
	const bool fits = endless() || rows.size() + other_lines <= size_.lines;

	rows_ = (state_.rows == detail::by_room ? fits
						: state_.rows == detail::large)
			? rows
			: rows_with(false);
}

/// Make uncore top's table of the tasks that pass the filter.
void layout::choose_tasks()
{
	if (!content_.tasks || content_.columns.columns.empty())
		return;

	top_settings settings = content_.columns;

	settings.by = state_.by;
	settings.sort = state_.sort;
	settings.reverse = state_.reverse;

	top_table table = make_table(*content_.tasks, settings);

	if (!state_.task_filter.empty())
		std::erase_if(table.rows, [&](const top_row &row) {
			if (contains(state_.by == top_by::cgroup
					     ? cgroups_.name(row.cgroup)
					     : row.comm,
				     state_.task_filter))
				return false;
			return state_.by == top_by::cgroup ||
			       std::to_string(row.pid) != state_.task_filter;
		});

	auto lines = show_table(table, settings, cgroups_,
				endless() ? 0 : size_.columns - 1);
	const auto head = lines.end() - std::ptrdiff_t(table.rows.size());

	task_head_.assign(lines.begin(), head);
	task_rows_.assign(head, lines.end());
}

std::pair<size_t, size_t> layout::divide(size_t room) const
{
	if (endless())
		return {rows_.size(), task_head_.size() + task_rows_.size()};

	const size_t least = content_.tasks ? std::min(few_tasks, room / 2) : 1;
	const size_t numbers =
		std::min(std::max<size_t>(1, rows_.size()), room - least);

	return {numbers, room - numbers};
}

// --- parts of the page

styled_line layout::title() const
{
	const live_numbers &numbers = content_.numbers;
	std::string text = fmt::format(
		" uncore live   {}  {}  {} socket{}  every {:g} s",
		numbers.machine(), numbers.driver(), numbers.sockets().size(),
		numbers.sockets().size() == 1 ? "" : "s",
		double(content_.interval.count()) / 1000);

	if (numbers.counted() < 0.995)
		text += fmt::format("  counted {:.0f}% of the time",
				    100 * numbers.counted());
	if (state_.paused)
		text += "  PAUSED";
	return {{padded(std::move(text), size_.columns), emphasis::title}};
}

/// Describe the task, or with rows by cgroup the cgroup, with the largest share of a
/// socket's memory traffic.
std::string layout::top_of(int socket) const
{
	std::map<std::string, double> sums;
	double total = 0;

	if (!content_.tasks)
		return "";
	for (const task_share &task : content_.tasks->tasks) {
		if (content_.tasks->packages[task.package].id != socket)
			continue;
		for (const fixed_count count : task.counts) {
			sums[state_.by == top_by::cgroup
				     ? cgroups_.name(task.cgroup)
				     : task.comm] += to_double(count);
			total += to_double(count);
		}
	}

	const auto largest = std::max_element(
		sums.begin(), sums.end(), [](const auto &a, const auto &b) {
			return a.second < b.second;
		});

	if (largest == sums.end() || largest->second <= 0)
		return "";
	return fmt::format("; most by {} ({:.0f} %)",
			   fit_middle(printable(largest->first), 40),
			   100 * largest->second / total);
}

/// Format a verdict in one line, with as many complete facts as there is room for.
std::string layout::short_text(const judgement &verdict, size_t columns) const
{
	static constexpr const char *ellipsis = "; …";
	std::string text = verdict.head;

	for (size_t i = 0; i < verdict.facts.size(); i++) {
		const std::string longer =
			text + (i ? "; " : ": ") + verdict.facts[i];

		if (width(longer) + width(ellipsis) > columns)
			return text + ellipsis;
		text = longer;
	}
	return text;
}

/// Add the verdict on a socket.
/// @param room lines for verdicts that need more than one line; reduced by the lines
/// used.
void layout::add_verdict(int socket, const judgement &verdict, size_t &room)
{
	const emphasis style =
		verdict.limited.empty() ? emphasis::none : emphasis::warning;
	const size_t columns = size_.columns - verdict_indent;
	std::string label = fmt::format(" {}: ", socket);
	auto lines = wrap("", verdict.text() + top_of(socket), columns);

	if (lines.size() > room + 1)
		lines = {short_text(verdict, columns)};
	room -= lines.size() - 1;
	for (std::string &line : lines)
		page_.push_back(
			{{padded(std::exchange(label, ""), verdict_indent),
			  emphasis::bold},
			 {fit(line, columns), style}});
}

/// Add the verdicts on the sockets, at most in a quarter of the page.  A verdict may have
/// several lines only on a page with more than 10 lines for each socket.
void layout::add_verdicts()
{
	const auto &verdicts = content_.verdicts;
	const size_t large = size_.lines / 10;
	size_t first = endless() ? verdicts.size() : size_.lines / 4;
	size_t room = endless()			? SIZE_MAX / 2
		      : large > verdicts.size() ? large - verdicts.size()
						: 0;

	for (const auto &[socket, verdict] : verdicts) {
		if (!first--)
			break;
		add_verdict(socket, verdict, room);
	}
}

styled_line layout::headings() const
{
	styled_line line;
	const size_t hidden =
		content_.numbers.sockets().size() - sockets_.size();
	std::string head = state_.focus == pane::numbers ? ">" : " ";

	if (!state_.number_filter.empty())
		head += "/" + printable(state_.number_filter);
	if (endless())
		head.clear();
	line.push_back({padded(fit(head, label_columns - 1), label_columns),
			emphasis::bold});
	for (const int socket : sockets_) {
		std::string text = fmt::format("socket {}", socket);

		if (hidden && socket == sockets_.back())
			text += fmt::format("  ({} more)", hidden);
		line.push_back({std::string(bar()) + " ", emphasis::dim});
		line.push_back({padded(std::move(text), socket_columns_ - 2),
				emphasis::bold});
	}
	return line;
}

styled_line layout::number_line(const live_row &row, double maximum) const
{
	const emphasis style = row.heading ? emphasis::bold : emphasis::none;
	styled_line line{{padded(row.label, label_columns), style}};

	for (const int socket : sockets_) {
		const auto entry = row.sockets.find(socket);
		const size_t room = socket_columns_ - 2;

		line.push_back({std::string(bar()) + " ", emphasis::dim});
		if (entry == row.sockets.end()) {
			line.push_back({std::string(room, ' ')});
			continue;
		}

		const live_cell &cell = entry->second;

		if (row.room == row_room::small) {
			line.push_back({padded(parts_text(cell, room), room)});
			continue;
		}

		const bool full = row.fills && cell.share >= nearly_full;
		const size_t used = value_columns + share_columns + 2;

		line.push_back({padded(value_text(cell, row.unit),
				       value_columns, true),
				style});
		line.push_back(
			{" " +
				 padded(share_text(cell.share, row.fills),
					share_columns, true) +
				 " ",
			 full ? emphasis::warning : style});
		// An endless page shows a single interval, without a history.
		if (room > used && !endless())
			line.push_back(
				{padded(sparkline(cell.past, maximum,
						  room - used - 1, size_.utf8),
					room - used),
				 emphasis::dim});
	}
	return line;
}

void layout::add_numbers(size_t room)
{
	size_t &first = state_.first_number;

	first = std::min(first, rows_.size() - std::min(rows_.size(), room));
	for (size_t i = first; i < rows_.size() && i < first + room; i++) {
		double maximum = rows_[i]->unit == measure::share ? 1 : 0;

		// One scale for all sockets, so that they can be compared.
		for (const auto &[socket, cell] : rows_[i]->sockets)
			for (const double value : cell.past)
				if (std::isfinite(value))
					maximum = std::max(maximum, value);
		page_.push_back(number_line(*rows_[i], maximum));
	}
	if (rows_.empty() && room)
		add("  no row with that text", emphasis::dim);
}

void layout::add_tasks(size_t room)
{
	if (!room)
		return;
	if (task_head_.empty()) {
		if (!content_.no_tasks.empty())
			add(printable("No tasks: " + content_.no_tasks));
		return;
	}

	const size_t head = std::min(room, task_head_.size());
	const size_t task_room = room - head;
	size_t &first = state_.first_task;

	first = std::min(first, task_rows_.size() -
					std::min(task_rows_.size(), task_room));
	for (size_t i = 0; i < head; i++) {
		if (i) {
			add(' ' + task_head_[i]);
			continue;
		}

		const bool focus = state_.focus == pane::tasks && !endless();
		std::string text = (focus ? '>' : ' ') + task_head_[0];

		text += fmt::format("   by {}{}", state_.sort,
				    state_.reverse ? ", least first" : "");
		if (!state_.task_filter.empty())
			text += "  /" + printable(state_.task_filter);
		add(padded(std::move(text), size_.columns), emphasis::title);
	}
	for (size_t i = first; i < task_rows_.size() && i < first + task_room;
	     i++)
		add(' ' + task_rows_[i]);
}

styled_line layout::bottom() const
{
	if (state_.typing)
		return {{fmt::format("/{}_   (Enter keeps it, Escape drops it)",
				     printable(state_.focus == pane::numbers
						       ? state_.number_filter
						       : state_.task_filter)),
			 emphasis::bold}};

	constexpr const char *keys[][2] = {
		{"q", "quit"},	 {"h", "help"},	  {"space", "pause"},
		{"/", "filter"}, {"s", "sort"},	  {"b", "by"},
		{"d", "detail"}, {"Tab", "pane"}, {"arrows", ""}};
	styled_line line;

	for (const auto &[key, action] : keys) {
		line.push_back({key, emphasis::bold});
		line.push_back(
			{fmt::format(" {}{}", action, *action ? "  " : "")});
	}
	return line;
}

void layout::add_help()
{
	add(padded(" uncore live: keys and numbers", size_.columns),
	    emphasis::title);
	for (const char *line : help_text)
		if (page_.size() < size_.lines)
			add(line);
}

std::vector<styled_line> layout::make()
{
	if (size_.columns < label_columns + least_socket ||
	    (!endless() && size_.lines < least_lines)) {
		for (auto &line :
		     wrap("",
			  fmt::format("terminal too small: {}x{}, and {}x{} "
				      "needed",
				      size_.columns, size_.lines,
				      label_columns + least_socket,
				      least_lines),
			  size_.columns))
			add(std::move(line));
		return std::move(page_);
	}
	if (state_.help) {
		add_help();
		return std::move(page_);
	}
	choose_sockets();
	choose_tasks();
	page_.push_back(title());
	add_verdicts();
	choose_rows();
	page_.push_back(headings());

	// message and keys
	const size_t below = 1 + !content_.message.empty();
	const auto [numbers, tasks] =
		divide(endless() ? 0 : size_.lines - page_.size() - below);

	add_numbers(numbers);
	add_tasks(endless() && task_head_.empty() ? 1 : tasks);
	if (endless())
		return std::move(page_);
	page_.resize(size_.lines - below);
	if (!content_.message.empty())
		add(printable(content_.message), emphasis::warning);
	page_.push_back(bottom());
	return std::move(page_);
}

} // namespace

std::string sparkline(const std::deque<double> &past, double maximum,
		      size_t columns, bool utf8)
{
	static constexpr std::array blocks = {"▁", "▂", "▃", "▄",
					      "▅", "▆", "▇", "█"};
	static constexpr std::array signs = {"_", ".", ":", "-",
					     "=", "+", "*", "#"};
	const size_t n = std::min(columns, past.size());
	std::string line(columns - n, ' ');

	for (size_t i = past.size() - n; i < past.size(); i++) {
		if (!std::isfinite(past[i])) {
			line += ' ';
			continue;
		}

		const double part = maximum > 0 ? past[i] / maximum : 0;
		const size_t level =
			std::min<size_t>(7, size_t(std::max(0.0, part) * 8));

		line += utf8 ? blocks[level] : signs[level];
	}
	return line;
}

std::vector<styled_line> make_page(const live_content &content,
				   live_state &state, cgroup_names &cgroups,
				   const page_size &size)
{
	auto page = layout(content, state, cgroups, size).make();

	if (!size.utf8)
		for (styled_line &line : page)
			for (styled_text &part : line)
				part.text = ascii(part.text);
	return page;
}

} // namespace cli
