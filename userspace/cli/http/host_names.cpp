// SPDX-License-Identifier: GPL-2.0-or-later
#include "http/host_names.hpp"

#include <algorithm>
#include <arpa/inet.h>

#include "output/machine.hpp"
#include "terminal/text.hpp"

namespace cli {

namespace {

/// Return the name in a Host header, without port and brackets of IPv6.
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
	in_addr ipv4{};
	in6_addr ipv6{};

	if (inet_pton(AF_INET, name.c_str(), &ipv4) == 1)
		return ntohl(ipv4.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, name.c_str(), &ipv6) == 1 &&
	       (IN6_IS_ADDR_LOOPBACK(&ipv6) ||
		(IN6_IS_ADDR_V4MAPPED(&ipv6) && ipv6.s6_addr[12] == 127));
}

} // namespace

host_names::host_names(const std::vector<std::string> &more)
{
	const std::string own = lower(host_name());

	for (const std::string &name : more)
		names_.push_back(name_in(name));
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

} // namespace cli
