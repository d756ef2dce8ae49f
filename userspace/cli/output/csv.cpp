// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/csv.hpp"

#include <cmath>

#include <fmt/format.h>

namespace cli {

std::string csv_cell(std::string_view cell)
{
	std::string quoted = "\"";

	if (cell.find_first_of(",\"\r\n") == cell.npos)
		return std::string(cell);
	for (char c : cell) {
		quoted += c;
		if (c == '"')
			quoted += c;
	}
	return quoted + '"';
}

std::string csv_line(const std::vector<std::string> &cells)
{
	std::string line;

	for (const std::string &cell : cells) {
		line += csv_cell(cell);
		line += ',';
	}
	if (!line.empty())
		line.pop_back();
	return line + '\n';
}

std::string exact(double value)
{
	return std::isfinite(value) ? fmt::format("{}", value) : "";
}

} // namespace cli
