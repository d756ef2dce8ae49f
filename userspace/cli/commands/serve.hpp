// SPDX-License-Identifier: GPL-2.0-or-later
// The command line of uncore serve, which two programs read: uncore, for help,
// completion and errors, executes uncore-serve, which serves.
#pragma once

#include <string>
#include <vector>

#include "arguments/subcommand.hpp"

namespace cli {

struct serve_options {
	std::vector<std::string> listen, listen_health, hosts;
	/// As given, as an empty name is not the same as none.
	std::vector<std::string> certificates, keys, client_cas;
	std::string textfile, replay;
	std::string pods, pods_token, pods_authorities;
	bool json = false, per_box = false;
	unsigned interval_ms = 0, cgroups = 0;
	double duration = 0;
};

/// Add the subcommand with its options; @p serve gets their values.
void add_serve(parser &app, context &shared,
	       std::function<int(const serve_options &)> serve);

} // namespace cli
