// SPDX-License-Identifier: GPL-2.0-or-later
#include "http/access.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <crypt.h>
#include <cstring>
#include <gnutls/crypto.h>

#include "output/document.hpp"
#include "output/machine.hpp"
#include "terminal/text.hpp"

namespace cli {

using clock = std::chrono::steady_clock;

namespace {

/// Pairs of user and password that are remembered.
constexpr size_t most_remembered = 64;
/// For how many times the time of a check no other one is made.
constexpr int pause_factor = 4;

/// Without its port and the brackets of IPv6.
std::string name_in(std::string_view host)
{
	if (host.starts_with('[')) {
		const size_t end = host.find(']');

		return std::string(end == host.npos ? host
						    : host.substr(1, end - 1));
	}
	return lower(host.substr(0, host.find(':')));
}

bool is_loopback(const std::string &name)
{
	in_addr four{};
	in6_addr six{};

	if (inet_pton(AF_INET, name.c_str(), &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, name.c_str(), &six) == 1 &&
	       (IN6_IS_ADDR_LOOPBACK(&six) ||
		(IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127));
}

} // namespace

host_names::host_names(std::vector<std::string> more)
{
	const std::string own = lower(host_name());

	for (const std::string &one : more)
		names_.push_back(name_in(one));
	names_.emplace_back("localhost");
	if (!own.empty())
		names_.push_back(own);
}

bool host_names::allows(std::string_view host) const
{
	std::string name = name_in(host);

	if (name.ends_with('.'))
		name.pop_back();
	return is_loopback(name) || name.ends_with(".localhost") ||
	       std::find(names_.begin(), names_.end(), name) != names_.end();
}

password_check::password_check()
{
	gnutls_rnd(GNUTLS_RND_KEY, salt_.data(), salt_.size());
}

password_check::digest
password_check::digest_of(const std::string &hash, const std::string &user,
			  const std::string &password) const
{
	const std::string all = hash + '\0' + user + '\0' + password;
	digest made{};

	gnutls_hmac_fast(GNUTLS_MAC_SHA256, salt_.data(), salt_.size(),
			 all.data(), all.size(), made.data());
	return made;
}

password_check::verdict
password_check::check(const std::map<std::string, std::string> &users,
		      const std::string &user, const std::string &password)
{
	// A hash of no user's password: it takes as long to find that there is
	// no such user.
	static const std::string nobody =
		"$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/"
		"LDeSi";
	const auto found = users.find(user);
	const std::string &hash = found == users.end() ? nobody : found->second;
	const auto now = clock::now();
	const digest asked = digest_of(hash, user, password);

	if (const auto known = right_.find(asked); known != right_.end()) {
		known->second = now;
		return verdict::right;
	}
	if (now < next_)
		return verdict::later;

	// What it works with is large, and holds the password afterwards.
	const auto work = std::make_unique<crypt_data>();
	const char *made = crypt_r(password.c_str(), hash.c_str(), work.get());
	const bool right = found != users.end() && made &&
			   hash.size() == std::strlen(made) &&
			   !gnutls_memcmp(made, hash.data(), hash.size());

	explicit_bzero(work.get(), sizeof(*work));
	next_ = clock::now() + pause_factor * (clock::now() - now);
	if (!right)
		return verdict::wrong;
	if (right_.size() >= most_remembered)
		right_.erase(std::min_element(right_.begin(), right_.end(),
					      [](const auto &a, const auto &b) {
						      return a.second <
							     b.second;
					      }));
	right_[asked] = now;
	return verdict::right;
}

} // namespace cli
