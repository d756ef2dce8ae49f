// SPDX-License-Identifier: GPL-2.0-or-later
// The kubelet's list of pods, over HTTP.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <uncore/error.hpp>

namespace cli {

/// Where names of pods are.
struct pod_source {
	/// A folder of logs, as /var/log/containers, whose files' names have
	/// them; or a list of pods, as the kubelet's /pods: a file or its
	/// address.  Empty for none.
	std::string where;
	/// For an address: a file with a bearer token, and one with the
	/// certificates of authorities; empty for none, and the system's.
	std::filesystem::path token = {}, authorities = {};
};

/// Whether it is "http://..." or "https://...".
bool is_address(std::string_view where);

/// The list that an address has, within a second.  The files are read each
/// time, as tokens expire.  Errors: errc::system.
uncore::result<std::string> get_pod_list(const pod_source &from);

} // namespace cli
