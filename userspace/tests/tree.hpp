// SPDX-License-Identifier: LGPL-2.1-or-later
// Trees like sysfs in a separate folder, made from listings that
// record-sysfs wrote on a machine, and broken at will.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <uncore/topology.hpp>

class tree {
public:
	/// An empty one.
	tree();
	/// @param listing "hswep" for data/hswep.sysfs
	explicit tree(const std::string &listing);
	~tree();
	tree(const tree &) = delete;
	tree &operator=(const tree &) = delete;

	const std::filesystem::path &path() const { return path_; }
	/// A file of the tree.
	std::filesystem::path operator/(const std::string &file) const
	{
		return path_ / file;
	}
	/// Makes or replaces a file, and the folders that it is in.
	void write(const std::string &file, std::string_view text) const;
	void remove(const std::string &file) const;
	std::string read(const std::string &file) const;

	/// What the library reads there; the test fails if that is nothing.
	uncore::topology topology() const;

private:
	void add_listing(const std::string &listing) const;
	void add_line(const std::string &line) const;

	std::filesystem::path path_;
};

/// Where PMUs are in a tree.
inline const std::string devices = "bus/event_source/devices/";
