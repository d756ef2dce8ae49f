// SPDX-License-Identifier: GPL-2.0-or-later
// Host headers that a server accepts on addresses that only this machine
// reaches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Names of this machine for its own server.  A page of another name that
/// resolves to this machine (DNS rebinding) is refused.
class host_names {
public:
	/// @param more further allowed names.
	explicit host_names(const std::vector<std::string> &more);

	/// Check a Host header, such as "localhost:10331".
	bool allows(std::string_view host) const;

private:
	std::vector<std::string> names_;
};

} // namespace cli
