// SPDX-License-Identifier: GPL-2.0-or-later
// Tables for people.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace cli {

/// A table with columns as wide as their widest cell.  Widths are a terminal's;
/// escape sequences have no width.
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
	/// Add a row; missing cells are empty.
	void add(std::vector<std::string> row);
	bool empty() const { return rows_.empty(); }
	/// Add an empty line.
	void gap() { rows_.emplace_back(); }
	/// Print the titles in bold, if any is not empty, and the rows, with
	/// lines wrapped at a terminal's width.
	void print(std::FILE *out) const;
	/// Return print()'s lines before wrapping; without emphasis if @p out
	/// is null.
	std::vector<std::string> lines(std::FILE *out = nullptr) const;

private:
	size_t room_of_last(std::FILE *out,
			    const std::vector<size_t> &widths) const;

	std::vector<column> columns_;
	std::vector<std::vector<std::string>> rows_;
};

} // namespace cli
