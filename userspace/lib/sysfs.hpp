// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Reading a tree that may be truncated or hostile: everything has a bound, and
/// what makes no sense is as good as missing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/topology.hpp>

namespace uncore {

/// A regular file's text without trailing white space; nothing for a file that
/// is missing, no file, or larger than any of sysfs.
std::optional<std::string> read_text(const std::filesystem::path &file);

/// The names in a folder, in order; empty where there is none.
std::vector<std::string> list_folder(const std::filesystem::path &folder);

/// "0,18-20"; nothing when malformed or beyond any machine's CPUs.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// "config:0-7,21"; nothing when malformed or of a word that libuncore does not
/// know.
std::optional<format_field> parse_format(std::string_view name,
					 std::string_view text);

} // namespace uncore
