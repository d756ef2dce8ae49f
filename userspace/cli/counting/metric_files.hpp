// SPDX-License-Identifier: GPL-2.0-or-later
// The user's own metrics: of files in the form of the catalogue's metrics.json,
// and of the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <uncore/own_metrics.hpp>

namespace cli {

/// Metrics of files and of the command line, and what is wrong with them.
class metric_files {
public:
	/// Read the folders /etc/uncore/metrics.d and
	/// ~/.config/uncore/metrics.d. A metric of the command line hides one
	/// of the same name in a file of the user, and that one hides one of
	/// the system.
	/// @param written metrics of the command line, from parse().
	explicit metric_files(
		const uncore::topology &machine,
		const std::vector<uncore::metric_definition> &written = {});

	/// Parse "NAME = EXPRESSION".
	/// Errors: errc::invalid.
	static uncore::result<uncore::metric_definition>
	parse(std::string_view text);

	const uncore::own_metrics &metrics() const { return metrics_; }
	/// File of a metric; "" for one of the command line.
	const std::string &file(size_t index) const { return files_[index]; }
	/// Lines for the user: file, metric, cause and remedy.
	std::vector<std::string> problems() const;
	/// Make such a line; @p file is empty for a metric of the command line.
	static std::string line(std::string_view file, std::string_view metric,
				std::string_view problem);

private:
	void read_folder(const std::string &folder);
	void read_file(const std::string &path, size_t own);
	void add(uncore::metric_definition &&definition,
		 const std::string &path, size_t own);

	std::vector<uncore::metric_definition> definitions_;
	std::vector<std::string> files_;    ///< of each definition
	std::vector<std::string> problems_; ///< of files
	uncore::own_metrics metrics_;
};

} // namespace cli
