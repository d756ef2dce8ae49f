// SPDX-License-Identifier: GPL-2.0-or-later
// The kubelet's list of pods, over HTTP.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <uncore/error.hpp>

namespace cli {

/// Source of the names of pods.
struct pod_source {
	/// Folder of logs, such as /var/log/containers, with the names in its
	/// files' names; or a list of pods, such as the kubelet's /pods, as a
	/// file or an address.  Empty without a source.
	std::string where;
	/// For an address: file with a bearer token, and file with the
	/// certificates of authorities.  Empty for no token, and for the
	/// authorities of the system.
	std::filesystem::path token = {}, authorities = {};
};

/// Tell whether a source is an address: "http://..." or "https://...".
bool is_address(std::string_view text);

/// Get the list of pods from an address, within a second.  The files are read
/// each time, as tokens expire.  Errors: errc::system.
uncore::result<std::string> get_pod_list(const pod_source &source);

} // namespace cli
