// SPDX-License-Identifier: LGPL-2.1-or-later
// Making trees from listings.
#include "tree.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace fs = std::filesystem;

/// Memory where there is some: a tree is thousands of small files.
static fs::path scratch()
{
	std::error_code ignored;
	const fs::path memory = "/dev/shm";

	return fs::is_directory(memory, ignored) ? memory
						 : fs::temp_directory_path();
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
	while (std::getline(file, line)) {
		const size_t equals = line.find(" = ");
		const size_t like = line.find(" -> ");

		if (line.starts_with('#'))
			continue;
		if (equals != line.npos) {
			write(line.substr(0, equals),
			      line.substr(equals + 3) + "\n");
			continue;
		}
		if (like == line.npos)
			throw std::runtime_error("malformed line " + line);
		const fs::path folder = path_ / line.substr(0, like);
		fs::create_directories(folder.parent_path());
		fs::create_directory_symlink(path_ / line.substr(like + 4),
					     folder);
	}
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
