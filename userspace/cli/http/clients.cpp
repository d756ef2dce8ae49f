// SPDX-License-Identifier: GPL-2.0-or-later
#include "http/clients.hpp"

#include <cstring>
#include <map>
#include <netinet/in.h>
#include <sys/socket.h>

namespace cli {

namespace {

/// Time since the last progress before which give_way() does not end a connection that is
/// receiving its answer.
constexpr std::chrono::seconds answer_time{2};

/// Return the network of a client.  IPv6 networks have 64 bits: a client may
/// use all addresses of its network.
client::address address_of(const sockaddr *source)
{
	client::address network{};

	if (source && source->sa_family == AF_INET) {
		network.second = reinterpret_cast<const sockaddr_in *>(source)
					 ->sin_addr.s_addr;
	} else if (source && source->sa_family == AF_INET6) {
		const in6_addr &ipv6 =
			reinterpret_cast<const sockaddr_in6 *>(source)
				->sin6_addr;

		if (IN6_IS_ADDR_V4MAPPED(&ipv6)) {
			uint32_t ipv4 = 0;

			std::memcpy(&ipv4, ipv6.s6_addr + 12, sizeof(ipv4));
			network.second = ipv4;
		} else {
			std::memcpy(&network.first, ipv6.s6_addr,
				    sizeof(network.first));
		}
	}
	return network;
}

} // namespace

client_list::place *client_list::place_of(MHD_Connection *connection)
{
	const auto *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? static_cast<place *>(info->socket_context) : nullptr;
}

client *client_list::find(MHD_Connection *connection)
{
	const place *entry = connection ? place_of(connection) : nullptr;

	return entry ? &**entry : nullptr;
}

void client_list::start(MHD_Connection *connection, void **context)
{
	const int fd = MHD_get_connection_info(
			       connection, MHD_CONNECTION_INFO_CONNECTION_FD)
			       ->connect_fd;
	const auto *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const auto expected = expected_.find(fd);

	clients_.push_back({fd, address_of(info ? info->client_addr : nullptr),
			    clock::now()});
	if (expected != expected_.end()) {
		clients_.back().loopback = expected->second;
		expected_.erase(expected);
	}
	*context = new place(std::prev(clients_.end()));
}

void client_list::close(void **context)
{
	auto *entry = static_cast<place *>(*context);

	if (!entry)
		return;
	clients_.erase(*entry);
	delete entry;
	*context = nullptr;
}

void client_list::waits_anew(MHD_Connection *connection)
{
	if (const place *entry = place_of(connection)) {
		(*entry)->since = clock::now();
		clients_.splice(clients_.end(), clients_, *entry);
	}
}

void client_list::end(client &peer)
{
	if (!peer.ended)
		shutdown(peer.fd, SHUT_RDWR);
	peer.ended = true;
}

bool client_list::give_way()
{
	const auto now = clock::now();
	std::map<client::address, size_t> counts;
	client *chosen = nullptr;
	size_t most = 0;

	for (const client &peer : clients_)
		counts[peer.network] += !peer.ended;
	for (const bool answered : {false, true}) {
		for (client &peer : clients_) {
			const size_t count = counts[peer.network];

			if (peer.ended || peer.streams ||
			    peer.answered != answered || count <= most ||
			    (answered && now - peer.since < answer_time))
				continue;
			chosen = &peer;
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

	for (client &peer : clients_) {
		if (peer.streams)
			continue; // stream_list::publish() has their limit
		if (now - peer.since < request_time)
			break;
		end(peer);
	}
}

void client_list::end_closed()
{
	char byte;

	for (client &peer : clients_)
		if (!peer.ended && !peer.answered &&
		    recv(peer.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
			end(peer);
}

std::optional<client_list::clock::time_point> client_list::deadline() const
{
	for (const client &peer : clients_)
		if (!peer.ended && !peer.streams)
			return peer.since + request_time;
	return std::nullopt;
}

} // namespace cli
