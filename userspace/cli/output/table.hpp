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
	};

	explicit table(std::vector<column> columns);
	/// Missing cells are empty.
	void add(std::vector<std::string> row);
	/// An empty line.
	void gap() { rows_.emplace_back(); }
	/// Titles in bold if any is not empty.  Lines are cut to a terminal's
	/// width.
	void print(std::FILE *out) const;
	/// What print() prints; without emphasis when @p out is null.
	std::vector<std::string> lines(std::FILE *out = nullptr) const;

private:
	std::vector<column> columns_;
	std::vector<std::vector<std::string>> rows_;
};

} // namespace cli
