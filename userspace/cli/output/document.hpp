// SPDX-License-Identifier: GPL-2.0-or-later
// JSON documents, one object a line.  The JSON Schema of them all is
// schema/uncore-1.schema.json, which is installed.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <uncore/topology.hpp>

namespace cli {

/// Number of the schema.  It grows when a member changes its meaning or is
/// removed; members may be added without that.
inline constexpr int json_schema = 1;

/// The members that each document begins with: schema, subcommand, version,
/// host, driver, generation, and when the program started.
/// @param machine nullptr for unknown.
nlohmann::ordered_json begin_document(const char *subcommand,
				      const uncore::topology *machine);

/// Write a document, all names and strings of which pass printable().
/// @param indent -1 for one line.
std::string dump(nlohmann::ordered_json document, int indent);

/// The same on one line.
std::string document_line(nlohmann::ordered_json document);

} // namespace cli
