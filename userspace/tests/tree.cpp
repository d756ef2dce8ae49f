// SPDX-License-Identifier: LGPL-2.1-or-later
// Make trees in place of sysfs from listings of files.
#include "tree.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace fs = std::filesystem;

/// The folder for trees: in memory if possible, because a tree has thousands of small
/// files.
static fs::path scratch()
{
	std::error_code ignored;
	const fs::path memory = "/dev/shm";

	return fs::is_directory(memory, ignored) ? memory
						 : fs::temp_directory_path();
}

/// The elements of a list in braces, "3-5" or "any,read".
static std::vector<std::string> elements(const std::string &list)
{
	std::vector<std::string> texts;
	int first, last, end = 0;

	if (sscanf(list.c_str(), "%d-%d%n", &first, &last, &end) == 2 &&
	    size_t(end) == list.size()) {
		while (first <= last)
			texts.push_back(std::to_string(first++));
		return texts;
	}

	std::istringstream parts(list);

	for (std::string part; std::getline(parts, part, ',');)
		texts.push_back(part);
	return texts;
}

/// Expand a line with lists in braces to a line for each file (see record-sysfs).
static std::vector<std::string> expand(const std::string &line)
{
	const size_t open = line.find('{');

	if (open == line.npos)
		return {line};
	const size_t close = line.find('}', open);
	const auto heads = elements(line.substr(open + 1, close - open - 1));
	auto tails = expand(line.substr(close + 1));
	std::vector<std::string> lines;

	if (tails.size() == 1)
		tails.resize(heads.size(), tails.front());
	if (tails.size() != heads.size())
		throw std::runtime_error("lists of different lengths: " + line);
	for (size_t i = 0; i < heads.size(); i++)
		lines.push_back(line.substr(0, open) + heads[i] + tails[i]);
	return lines;
}

tree::tree()
{
	std::string name = (scratch() / "uncore-XXXXXX").string();

	if (!mkdtemp(name.data()))
		throw std::runtime_error("mkdtemp");
	path_ = name;
}

tree::tree(const std::string &listing) : tree()
{
	add_listing(listing);
}

tree::~tree()
{
	std::error_code ignored;

	fs::remove_all(path_, ignored);
}

void tree::add_listing(const std::string &listing) const
{
	std::ifstream file(TEST_DATA "/" + listing + ".sysfs");
	std::string line;

	if (!file)
		throw std::runtime_error("no listing " + listing);
	while (std::getline(file, line))
		if (!line.starts_with('#'))
			for (const std::string &file_line : expand(line))
				add_line(file_line);
}

void tree::add_line(const std::string &line) const
{
	const size_t equals = line.find(" = ");
	const size_t like = line.find(" -> ");

	if (equals != line.npos) {
		write(line.substr(0, equals), line.substr(equals + 3) + "\n");
		return;
	}
	if (like == line.npos)
		throw std::runtime_error("malformed line " + line);

	const fs::path folder = path_ / line.substr(0, like);

	fs::create_directories(folder.parent_path());
	fs::create_directory_symlink(path_ / line.substr(like + 4), folder);
}

void tree::write(const std::string &file, std::string_view text) const
{
	fs::create_directories((path_ / file).parent_path());

	std::ofstream out(path_ / file, std::ios::binary | std::ios::trunc);

	out << text;
	if (!out.flush())
		throw std::runtime_error("cannot write " + file);
}

void tree::remove(const std::string &file) const
{
	if (!fs::remove_all(path_ / file))
		throw std::runtime_error("there is no " + file);
}

std::string tree::read(const std::string &file) const
{
	std::ifstream in(path_ / file, std::ios::binary);

	if (!in)
		throw std::runtime_error("there is no " + file);
	return {std::istreambuf_iterator<char>(in), {}};
}

uncore::topology tree::topology() const
{
	auto machine = uncore::topology::read(path_);

	if (!machine)
		throw std::runtime_error(machine.error().message);
	return *std::move(machine);
}
