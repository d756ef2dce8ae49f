// SPDX-License-Identifier: GPL-2.0-or-later
#include "http/clients.hpp"

#include <cstring>
#include <map>
#include <netinet/in.h>
#include <sys/socket.h>

namespace cli {

namespace {

/// For how long an answer may be taken before its connection may give way.
constexpr std::chrono::seconds answer_time{2};

/// Networks of IPv6 have 64 bits, all of which one client may use.
client::address address_of(const sockaddr *from)
{
	client::address made{};

	if (from && from->sa_family == AF_INET) {
		made.second = reinterpret_cast<const sockaddr_in *>(from)
				      ->sin_addr.s_addr;
	} else if (from && from->sa_family == AF_INET6) {
		const in6_addr &its =
			reinterpret_cast<const sockaddr_in6 *>(from)->sin6_addr;

		if (IN6_IS_ADDR_V4MAPPED(&its)) {
			uint32_t four = 0;

			std::memcpy(&four, its.s6_addr + 12, sizeof(four));
			made.second = four;
		} else {
			std::memcpy(&made.first, its.s6_addr,
				    sizeof(made.first));
		}
	}
	return made;
}

} // namespace

client_list::place *client_list::place_of(MHD_Connection *connection)
{
	const auto *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? static_cast<place *>(info->socket_context) : nullptr;
}

client *client_list::of(MHD_Connection *connection)
{
	const place *known = connection ? place_of(connection) : nullptr;

	return known ? &**known : nullptr;
}

void client_list::start(MHD_Connection *connection, void **context)
{
	const int fd = MHD_get_connection_info(
			       connection, MHD_CONNECTION_INFO_CONNECTION_FD)
			       ->connect_fd;
	const auto *from = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const auto expected = expected_.find(fd);

	all_.push_back({fd, address_of(from ? from->client_addr : nullptr),
			clock::now()});
	if (expected != expected_.end()) {
		all_.back().loopback = expected->second;
		expected_.erase(expected);
	}
	*context = new place(std::prev(all_.end()));
}

void client_list::close(void **context)
{
	auto *known = static_cast<place *>(*context);

	if (!known)
		return;
	all_.erase(*known);
	delete known;
	*context = nullptr;
}

void client_list::waits_anew(MHD_Connection *connection)
{
	if (const place *known = place_of(connection)) {
		(*known)->since = clock::now();
		all_.splice(all_.end(), all_, *known);
	}
}

void client_list::end(client &one)
{
	if (!one.ended)
		shutdown(one.fd, SHUT_RDWR);
	one.ended = true;
}

bool client_list::give_way()
{
	const auto now = clock::now();
	std::map<client::address, size_t> counts;
	client *chosen = nullptr;
	size_t most = 0;

	for (const client &one : all_)
		counts[one.from] += !one.ended;
	for (const bool answered : {false, true}) {
		for (client &one : all_) {
			const size_t count = counts[one.from];

			if (one.ended || one.streams ||
			    one.answered != answered || count <= most ||
			    (answered && now - one.since < answer_time))
				continue;
			chosen = &one;
			most = count;
		}
		if (chosen)
			break;
	}
	if (chosen)
		end(*chosen);
	return chosen;
}

void client_list::end_slow()
{
	const auto now = clock::now();

	for (client &one : all_) {
		if (one.streams)
			continue; // these have another limit
		if (now - one.since < request_time)
			break;
		end(one);
	}
}

void client_list::end_closed()
{
	char byte;

	for (client &one : all_)
		if (!one.ended && !one.answered &&
		    recv(one.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
			end(one);
}

std::optional<client_list::clock::time_point> client_list::deadline() const
{
	for (const client &one : all_)
		if (!one.ended && !one.streams)
			return one.since + request_time;
	return std::nullopt;
}

} // namespace cli
