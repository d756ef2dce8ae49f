// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Reading of a sysfs tree that may be truncated or hostile: all reads are
/// bounded, and malformed text counts as missing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/topology.hpp>

namespace uncore {

/// Read a regular file's text, without trailing white space; nothing for a file
/// that is missing, not regular, or larger than any sysfs file.
std::optional<std::string> read_text(const std::filesystem::path &file);

/// List the names in a folder, sorted; empty for a missing folder.
std::vector<std::string> list_folder(const std::filesystem::path &folder);

/// Parse "0,18-20"; nothing if malformed or beyond any machine's CPUs.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// Parse "config:0-7,21"; nothing if malformed or if libuncore does not know
/// the word.
std::optional<format_field> parse_format(std::string_view name,
					 std::string_view text);

} // namespace uncore
