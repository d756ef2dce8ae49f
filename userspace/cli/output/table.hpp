// SPDX-License-Identifier: GPL-2.0-or-later
// Tables for people.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace cli {

/// Columns as wide as their widest cell.  Widths are a terminal's; escape
/// sequences have none.
class table {
public:
	enum class align { left, right };

	struct column {
		std::string title;
		table::align align = align::left;
		/// Cut the last column's cells to a terminal's width.
		bool cut = false;
	};

	explicit table(std::vector<column> columns);
	/// Missing cells are empty.
	void add(std::vector<std::string> row);
	bool empty() const { return rows_.empty(); }
	/// An empty line.
	void gap() { rows_.emplace_back(); }
	/// Titles in bold if any is not empty.  Lines are wrapped at a
	/// terminal's width.
	void print(std::FILE *out) const;
	/// What print() prints, before it wraps lines; without emphasis when
	/// @p out is null.
	std::vector<std::string> lines(std::FILE *out = nullptr) const;

private:
	size_t room_of_last(std::FILE *out,
			    const std::vector<size_t> &widths) const;

	std::vector<column> columns_;
	std::vector<std::vector<std::string>> rows_;
};

} // namespace cli
