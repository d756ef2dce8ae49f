// SPDX-License-Identifier: GPL-2.0-or-later
// Options of uncore serve.  Two programs parse them: uncore, for help, completion and
// errors; and uncore-serve, which uncore then executes with the same words.
#pragma once

#include <string>
#include <vector>

#include "arguments/subcommand.hpp"

namespace cli {

struct serve_options {
	std::vector<std::string> listen, listen_health, hosts;
	/// Each value that was given.  Lists, so that an empty file name can be
	/// told from an absent option.
	std::vector<std::string> certificates, keys, client_cas;
	std::string textfile, replay;
	std::string pods, pods_token, pods_authorities;
	bool json = false, per_box = false;
	unsigned interval_ms = 0, cgroups = 0;
	double duration = 0;
};

/// Add the subcommand with its options.
/// @param serve function that the subcommand calls with the options' values.
void add_serve(parser &app, context &shared,
	       std::function<int(const serve_options &)> serve);

} // namespace cli
