// SPDX-License-Identifier: LGPL-2.1-or-later
// A copy of a machine's sysfs in a temporary folder. The files come from a listing
// that record-sysfs wrote on the machine; tests change or remove files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <uncore/topology.hpp>

class tree {
public:
	/// Make an empty tree.
	tree();
	/// Make a tree with the files of a listing.
	/// @param listing "hswep" for data/hswep.sysfs
	explicit tree(const std::string &listing);
	~tree();
	tree(const tree &) = delete;
	tree &operator=(const tree &) = delete;

	const std::filesystem::path &path() const { return path_; }
	/// The path of a file of the tree.
	std::filesystem::path operator/(const std::string &file) const
	{
		return path_ / file;
	}
	/// Make or replace a file, and make the folders above the file.
	void write(const std::string &file, std::string_view text) const;
	void remove(const std::string &file) const;
	std::string read(const std::string &file) const;

	/// Read the tree with the library; throws if that fails.
	uncore::topology topology() const;

private:
	void add_listing(const std::string &listing) const;
	void add_line(const std::string &line) const;

	std::filesystem::path path_;
};

/// The folder of PMUs in a tree.
inline const std::string devices = "bus/event_source/devices/";
