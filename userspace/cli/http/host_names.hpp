// SPDX-License-Identifier: GPL-2.0-or-later
// The Host headers that a server takes which only this machine reaches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Names by which this machine calls its own server: a page of another
/// name that leads here (DNS rebinding) is refused.
class host_names {
public:
	/// @param more names that are allowed as well.
	explicit host_names(const std::vector<std::string> &more);

	/// @param host a Host header, "localhost:10331".
	bool allows(std::string_view host) const;

private:
	std::vector<std::string> names_;
};

} // namespace cli
