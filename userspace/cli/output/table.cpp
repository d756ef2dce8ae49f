// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "terminal/colour.hpp"
#include "terminal/layout.hpp"

namespace cli {

table::table(std::vector<column> columns) : columns_(std::move(columns)) {}

void table::add(std::vector<std::string> row)
{
	row.resize(columns_.size());
	rows_.push_back(std::move(row));
}

/// Return the terminal's columns for cells of the last column, at least one; 0:
/// no limit.
size_t table::room_of_last(std::FILE *out,
			   const std::vector<size_t> &widths) const
{
	const size_t columns = out ? columns_of(out) : 0;
	size_t used = 0;

	for (size_t i = 0; i + 1 < widths.size(); i++)
		used += widths[i] + 2;
	return columns ? columns - std::min(columns - 1, used) : 0;
}

std::vector<std::string> table::lines(std::FILE *out) const
{
	std::vector<size_t> widths;
	std::vector<std::string> titles, text;
	bool titled = false;

	for (const column &c : columns_) {
		widths.push_back(width(c.title));
		titles.push_back(out ? bold(out, c.title) : c.title);
		titled |= !c.title.empty();
	}
	for (const auto &row : rows_)
		for (size_t i = 0; i < row.size(); i++)
			widths[i] = std::max(widths[i], width(row[i]));

	const size_t room = room_of_last(out, widths);

	auto add_line = [&](const std::vector<std::string> &row) {
		std::string cells;

		for (size_t i = 0; i < row.size(); i++) {
			size_t pad = widths[i] - width(row[i]);
			bool right_aligned = columns_[i].align == align::right;

			if (i)
				cells += "  ";
			if (i + 1 == row.size() && columns_[i].cut)
				cells += fit_end(row[i], room);
			else
				cells +=
					right_aligned
						? std::string(pad, ' ') + row[i]
						: row[i] +
							  std::string(pad, ' ');
		}
		cells.erase(cells.find_last_not_of(' ') + 1);
		text.push_back(std::move(cells));
	};
	if (titled)
		add_line(titles);
	for (const auto &row : rows_)
		add_line(row);
	return text;
}

void table::print(std::FILE *out) const
{
	const size_t columns = columns_of(out);

	for (const auto &line : lines(out))
		fmt::print(out, "{}", wrap_lines(line + '\n', columns));
}

} // namespace cli
