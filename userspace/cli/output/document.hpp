// SPDX-License-Identifier: GPL-2.0-or-later
// JSON documents, one object a line.  The JSON Schema of all documents is
// schema/uncore-1.schema.json, which is installed.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <uncore/topology.hpp>

namespace cli {

/// Number of the schema.  The number grows when a member changes its meaning or
/// is removed, but not when a member is added.
inline constexpr int json_schema = 1;

/// Begin a document, with the members of every document: schema, subcommand,
/// version, host, driver, generation, and start, the program's start time.
/// @param machine nullptr for unknown.
nlohmann::ordered_json begin_document(const char *subcommand,
				      const uncore::topology *machine);

/// Write a document; all its names and strings pass printable().
/// @param indent -1 for one line.
std::string dump(nlohmann::ordered_json document, int indent);

/// Write a document on one line.
std::string document_line(nlohmann::ordered_json document);

} // namespace cli
