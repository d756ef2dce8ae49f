// SPDX-License-Identifier: GPL-2.0-or-later
// How the subcommands print: errors, colour, tables, comma-separated values.
#include "cli.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unistd.h>

namespace cli {

int fail(std::string_view message)
{
	// One line, whatever a message from elsewhere may hold.
	std::string line(message);
	std::replace(line.begin(), line.end(), '\n', ' ');
	std::fflush(stdout);
	fmt::print(stderr, "uncore: {}\n", line);
	return failure;
}

void note(std::string_view message)
{
	(void)fail(message);
}

int fail(const uncore::error &failure)
{
	return fail(failure.message);
}

int fail_usage(std::string_view message)
{
	fail(message);
	return usage;
}

bool colour(std::FILE *out)
{
	const char *term = std::getenv("TERM");
	const char *never = std::getenv("NO_COLOR");

	return isatty(fileno(out)) && !(never && *never) && term &&
	       std::string_view(term) != "dumb";
}

static std::string dressed(std::FILE *out, const char *code,
			   std::string_view text)
{
	if (text.empty() || !colour(out))
		return std::string(text);
	return fmt::format("\033[{}m{}\033[0m", code, text);
}

std::string bold(std::FILE *out, std::string_view text)
{
	return dressed(out, "1", text);
}

std::string dim(std::FILE *out, std::string_view text)
{
	return dressed(out, "2", text);
}

std::string red(std::FILE *out, std::string_view text)
{
	return dressed(out, "31", text);
}

std::string yellow(std::FILE *out, std::string_view text)
{
	return dressed(out, "33", text);
}

std::string green(std::FILE *out, std::string_view text)
{
	return dressed(out, "32", text);
}

size_t width(std::string_view text)
{
	size_t columns = 0;

	for (size_t i = 0; i < text.size(); i++) {
		unsigned char c = text[i];

		if (c == '\033')
			i = std::min(text.find('m', i), text.size());
		else if ((c & 0xc0) != 0x80)
			columns++;
	}
	return columns;
}

table::table(std::vector<column> columns) : columns_(std::move(columns)) {}

void table::add(std::vector<std::string> row)
{
	row.resize(columns_.size());
	rows_.push_back(std::move(row));
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

	auto line = [&](const std::vector<std::string> &row) {
		std::string cells;

		for (size_t i = 0; i < row.size(); i++) {
			size_t pad = widths[i] - width(row[i]);
			bool right = columns_[i].align == align::right;

			if (i)
				cells += "  ";
			cells += right ? std::string(pad, ' ') + row[i]
				       : row[i] + std::string(pad, ' ');
		}
		cells.erase(cells.find_last_not_of(' ') + 1);
		text.push_back(std::move(cells));
	};
	if (titled)
		line(titles);
	for (const auto &row : rows_)
		line(row);
	return text;
}

void table::print(std::FILE *out) const
{
	for (const auto &line : lines(out))
		fmt::print(out, "{}\n", line);
}

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

std::string lower(std::string_view text)
{
	std::string small(text);

	for (char &c : small)
		if (c >= 'A' && c <= 'Z')
			c = static_cast<char>(c - 'A' + 'a');
	return small;
}

std::string cpu_list(std::span<const int> cpus)
{
	std::string text;

	for (size_t i = 0; i < cpus.size();) {
		size_t last = i;

		while (last + 1 < cpus.size() &&
		       cpus[last + 1] == cpus[last] + 1)
			last++;
		text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
		if (last > i)
			text += fmt::format("-{}", cpus[last]);
		i = last + 1;
	}
	return text;
}

const char *driver_name(uncore::driver driver)
{
	switch (driver) {
	case uncore::driver::xeon_uncore:
		return "xeon_uncore";
	case uncore::driver::intel_uncore:
		return "intel_uncore";
	default:
		return "";
	}
}

nlohmann::ordered_json driver_name(const uncore::topology &machine)
{
	if (machine.pmus().empty())
		return nullptr;
	return driver_name(machine.pmus().front().driver);
}

std::string exact(double value)
{
	return std::isfinite(value) ? fmt::format("{}", value) : "";
}

} // namespace cli
