// SPDX-License-Identifier: GPL-2.0-or-later
// Who may ask: the Host header of a server that only this machine reaches, and
// basic authentication.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Names by which this machine calls its own server: a page of another
/// name that leads here (DNS rebinding) is refused.
class host_names {
public:
	/// @param more names that are allowed as well.
	explicit host_names(std::vector<std::string> more);

	/// @param host a Host header, "localhost:10331".
	bool allows(std::string_view host) const;

private:
	std::vector<std::string> names_;
};

/// Checks passwords against their hashes by crypt(3), which takes long by
/// design: pairs that were right are remembered, and the rate of other ones is
/// limited, so that other requests are still answered.
class password_check {
public:
	enum class verdict { right, wrong, later };

	password_check();

	verdict check(const std::map<std::string, std::string> &users,
		      const std::string &user, const std::string &password);

private:
	using digest = std::array<unsigned char, 32>;

	digest digest_of(const std::string &hash, const std::string &user,
			 const std::string &password) const;

	std::array<unsigned char, 32> salt_{};
	/// When each was last used.
	std::map<digest, std::chrono::steady_clock::time_point> right_;
	std::chrono::steady_clock::time_point next_{};
};

} // namespace cli
