// SPDX-License-Identifier: GPL-2.0-or-later
// Check of the Host header of requests to a listener that only this machine reaches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Names by which programs on this machine may call the server.  A web site can let its
/// name resolve to 127.0.0.1 (DNS rebinding), so that its page could read the server's
/// answers in a browser.  Such a request has the site's name and is refused.
class host_names {
public:
	/// @param more names that are allowed beside this machine's own.
	explicit host_names(const std::vector<std::string> &more);

	/// Check a Host header, such as "localhost:10331".
	bool allows(std::string_view host) const;

private:
	std::vector<std::string> names_;
};

} // namespace cli
