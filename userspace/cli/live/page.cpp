// SPDX-License-Identifier: GPL-2.0-or-later
// uncore live's page.
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

constexpr size_t label_columns = 14;
/// A socket's: value, share, and a sparkline in the remaining columns.
constexpr size_t value_columns = 10, share_columns = 6;
constexpr size_t least_socket = 26, usual_socket = 33;
constexpr size_t least_lines = 8;
constexpr size_t verdict_indent = 5;
/// Of the tasks: title, total, idle and some of them.
constexpr size_t few_tasks = 7;
/// From here on a box that can do no more is near to that.
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
	const size_t has = width(text);
	const std::string pad(has < columns ? columns - has : 0, ' ');

	return right ? pad + text : text + pad;
}

/// For a terminal whose locale has ASCII only.
std::string ascii(std::string_view text)
{
	std::string plain;

	for (const char c : text)
		if ((c & 0xc0) != 0x80) // one of a character's bytes
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

/// The shares of each box; without % where there are many.
std::string parts_text(const live_cell &cell, size_t columns)
{
	constexpr size_t usual = 5;
	const size_t each = std::min(
		usual, columns / std::max<size_t>(1, cell.parts.size()));
	std::string text;

	for (const double part : cell.parts)
		text += padded(!std::isfinite(part) ? "-"
			       : each < usual
				       ? fmt::format("{:.0f}", 100 * part)
				       : fmt::format("{:.0f}%", 100 * part),
			       each, true);
	return fit(text, columns);
}

/// The page while it is made.
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
	std::string short_text(const judgement &said, size_t columns) const;
	void add_verdict(int socket, const judgement &said, size_t &room);
	std::string top_of(int socket) const;
	styled_line headings() const;
	styled_line number_line(const live_row &row, double most) const;
	void add_numbers(size_t room);
	void add_tasks(size_t room);
	styled_line bottom() const;
	void add_help();
	/// @return lines for numbers and tasks.
	std::pair<size_t, size_t> divide(size_t room) const;

	std::vector<const live_row *> rows_with(bool each_box) const;
	void add(std::string text, emphasis how = emphasis::none)
	{
		page_.push_back({{std::move(text), how}});
	}
	bool endless() const { return !size_.lines; }
	const char *bar() const { return size_.utf8 ? "│" : "|"; }

	const live_content &content_;
	live_state &state_;
	cgroup_names &cgroups_;
	const page_size &size_;
	std::vector<styled_line> page_;
	std::vector<int> sockets_; ///< that are shown
	size_t socket_columns_ = usual_socket;
	std::vector<const live_row *> rows_;
	/// Titles and sums, then a line each.
	std::vector<std::string> task_head_, task_rows_;
};

// --- what there is room for

void layout::choose_sockets()
{
	const std::set<int> &all = content_.numbers.sockets();
	const size_t room = size_.columns - label_columns;
	size_t n = std::min(std::max<size_t>(1, room / usual_socket),
			    std::max<size_t>(1, all.size()));

	// Two side by side on somewhat smaller terminals, too.
	if (n == 1 && all.size() > 1 && room / least_socket > 1)
		n = 2;
	// Without a history a column ends with its share.
	socket_columns_ =
		endless() ? value_columns + share_columns + 4 : room / n;
	state_.first_socket =
		std::min(state_.first_socket,
			 all.size() > n ? all.size() - n : size_t(0));

	auto at = all.begin();

	std::advance(at, std::min(state_.first_socket, all.size()));
	for (; at != all.end() && sockets_.size() < n; ++at)
		sockets_.push_back(*at);
}

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
	// headings, message, keys
	const size_t others = tasks + page_.size() + 3;
	const auto all = rows_with(true);
	const bool fits = endless() || all.size() + others <= size_.lines;

	rows_ = (state_.rows == detail::by_room ? fits
						: state_.rows == detail::large)
			? all
			: rows_with(false);
}

/// uncore top's table, without the tasks that are filtered away.
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

// --- its parts

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

/// The task or cgroup that moved most of a socket's memory, and its part.
std::string layout::top_of(int socket) const
{
	std::map<std::string, double> sums;
	double all = 0;

	if (!content_.tasks)
		return "";
	for (const task_share &one : content_.tasks->tasks) {
		if (content_.tasks->packages[one.package].id != socket)
			continue;
		for (const fixed_count count : one.counts) {
			sums[state_.by == top_by::cgroup
				     ? cgroups_.name(one.cgroup)
				     : one.comm] += to_double(count);
			all += to_double(count);
		}
	}

	const auto most = std::max_element(sums.begin(), sums.end(),
					   [](const auto &a, const auto &b) {
						   return a.second < b.second;
					   });

	if (most == sums.end() || most->second <= 0)
		return "";
	return fmt::format("; most by {} ({:.0f} %)",
			   fit_middle(printable(most->first), 40),
			   100 * most->second / all);
}

/// As many facts as a line has room for, none of them cut.
std::string layout::short_text(const judgement &said, size_t columns) const
{
	static constexpr const char *more = "; …";
	std::string text = said.head;

	for (size_t i = 0; i < said.facts.size(); i++) {
		const std::string longer =
			text + (i ? "; " : ": ") + said.facts[i];

		if (width(longer) + width(more) > columns)
			return text + more;
		text = longer;
	}
	return text;
}

/// What limits a socket; @p room has lines beside its first one.
void layout::add_verdict(int socket, const judgement &said, size_t &room)
{
	const emphasis how =
		said.limited.empty() ? emphasis::none : emphasis::warning;
	const size_t columns = size_.columns - verdict_indent;
	std::string label = fmt::format(" {}: ", socket);
	auto lines = wrap("", said.text() + top_of(socket), columns);

	if (lines.size() > room + 1)
		lines = {short_text(said, columns)};
	room -= lines.size() - 1;
	for (std::string &line : lines)
		page_.push_back(
			{{padded(std::exchange(label, ""), verdict_indent),
			  emphasis::bold},
			 {fit(line, columns), how}});
}

/// Lines of each socket: the first thing to read.  At most a quarter of the
/// page has first lines, and only a large page has others.
void layout::add_verdicts()
{
	const auto &all = content_.verdicts;
	const size_t large = size_.lines / 10;
	size_t first = endless() ? all.size() : size_.lines / 4;
	size_t room = endless()		   ? SIZE_MAX / 2
		      : large > all.size() ? large - all.size()
					   : 0;

	for (const auto &[socket, said] : all) {
		if (!first--)
			break;
		add_verdict(socket, said, room);
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

styled_line layout::number_line(const live_row &row, double most) const
{
	const emphasis how = row.heading ? emphasis::bold : emphasis::none;
	styled_line line{{padded(row.label, label_columns), how}};

	for (const int socket : sockets_) {
		const auto found = row.sockets.find(socket);
		const size_t room = socket_columns_ - 2;

		line.push_back({std::string(bar()) + " ", emphasis::dim});
		if (found == row.sockets.end()) {
			line.push_back({std::string(room, ' ')});
			continue;
		}

		const live_cell &cell = found->second;

		if (row.room == row_room::small) {
			line.push_back({padded(parts_text(cell, room), room)});
			continue;
		}

		const bool full = row.fills && cell.share >= nearly_full;
		const size_t used = value_columns + share_columns + 2;

		line.push_back({padded(value_text(cell, row.unit),
				       value_columns, true),
				how});
		line.push_back(
			{" " +
				 padded(share_text(cell.share, row.fills),
					share_columns, true) +
				 " ",
			 full ? emphasis::warning : how});
		// A single interval has no history.
		if (room > used && !endless())
			line.push_back(
				{padded(sparkline(cell.past, most,
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
		double most = rows_[i]->unit == measure::share ? 1 : 0;

		// One scale for all sockets, so that they can be compared.
		for (const auto &[socket, cell] : rows_[i]->sockets)
			for (const double value : cell.past)
				if (std::isfinite(value))
					most = std::max(most, value);
		page_.push_back(number_line(*rows_[i], most));
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
	const size_t left = room - head;
	size_t &first = state_.first_task;

	first = std::min(first,
			 task_rows_.size() - std::min(task_rows_.size(), left));
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
	for (size_t i = first; i < task_rows_.size() && i < first + left; i++)
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

	for (const auto &[key, what] : keys) {
		line.push_back({key, emphasis::bold});
		line.push_back({fmt::format(" {}{}", what, *what ? "  " : "")});
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

std::string sparkline(const std::deque<double> &past, double most,
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

		const double part = most > 0 ? past[i] / most : 0;
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
