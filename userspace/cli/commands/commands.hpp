// SPDX-License-Identifier: GPL-2.0-or-later
// The subcommands, each in the file of its name.
#pragma once

#include "common/cli.hpp"

namespace cli {

void add_check(parser &app, context &shared);
void add_flamegraph(parser &app, context &shared);
void add_list(parser &app, context &shared);
void add_live(parser &app, context &shared);
void add_metric(parser &app, context &shared);
void add_record(parser &app, context &shared);
void add_report(parser &app, context &shared);
void add_serve(parser &app, context &shared);
void add_stat(parser &app, context &shared);
void add_topology(parser &app, context &shared);
void add_top(parser &app, context &shared);

/// Prints what the last of @p words, which follow the command's name, may
/// become.
int complete(const parser &app, const std::vector<std::string> &words);

} // namespace cli
