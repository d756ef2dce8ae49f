// SPDX-License-Identifier: GPL-2.0-or-later
// Command line of uncore serve.  Two programs parse the command line: uncore,
// for help, completion and errors, and uncore-serve, which uncore executes.
#pragma once

#include <string>
#include <vector>

#include "arguments/subcommand.hpp"

namespace cli {

struct serve_options {
	std::vector<std::string> listen, listen_health, hosts;
	/// Values as given: an empty name differs from an absent option.
	std::vector<std::string> certificates, keys, client_cas;
	std::string textfile, replay;
	std::string pods, pods_token, pods_authorities;
	bool json = false, per_box = false;
	unsigned interval_ms = 0, cgroups = 0;
	double duration = 0;
};

/// Add the subcommand with its options; @p serve gets the options' values.
void add_serve(parser &app, context &shared,
	       std::function<int(const serve_options &)> serve);

} // namespace cli
