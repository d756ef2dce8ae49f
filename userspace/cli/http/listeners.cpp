// SPDX-License-Identifier: GPL-2.0-or-later
#include "http/listeners.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fmt/format.h>

namespace cli {

using uncore::errc;

namespace {

struct addresses_closer {
	void operator()(addrinfo *list) const { freeaddrinfo(list); }
};

constexpr std::string_view unix_prefix = "unix:";

using addresses = std::unique_ptr<addrinfo, addresses_closer>;

uncore::error failed(const std::string &subject, int number)
{
	return {errc::system, fmt::format("{}: {}", subject, strerror(number))};
}

uncore::error no_address(const char *option, const std::string &text,
			 const char *reason)
{
	return {errc::invalid,
		fmt::format(
			"{} {}: {}; write ADDRESS:PORT, such as 127.0.0.1:10331 or [::1]:10331, or unix:PATH",
			option, text, reason)};
}

/// Parse a numeric address and a port.
uncore::result<addresses> resolve(const char *option, const std::string &text)
{
	const size_t colon = text.rfind(':');
	std::string host = text.substr(0, colon);
	addrinfo hints{}, *list = nullptr;

	if (colon == text.npos || !colon)
		return no_address(option, text, "no address and port");

	const std::string port = text.substr(colon + 1);
	const bool is_number =
		!port.empty() && port.size() <= 5 &&
		port.find_first_not_of("0123456789") == port.npos;

	if (!is_number || std::stoul(port) > UINT16_MAX)
		return no_address(option, text, "no port of 0 to 65535");
	if (host.front() == '[' && host.back() == ']')
		host = host.substr(1, host.size() - 2);
	else if (host.find(':') != host.npos)
		return no_address(option, text,
				  "an IPv6 address is in brackets");
	hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
	hints.ai_socktype = SOCK_STREAM;
	if (int err = getaddrinfo(host.c_str(), port.c_str(), &hints, &list))
		return no_address(option, text, gai_strerror(err));
	return addresses(list);
}

const in6_addr *ipv6_of(const addrinfo &info)
{
	if (info.ai_family != AF_INET6)
		return nullptr;
	return &reinterpret_cast<const sockaddr_in6 *>(info.ai_addr)->sin6_addr;
}

bool is_loopback(const addrinfo &info)
{
	if (const in6_addr *address = ipv6_of(info))
		return IN6_IS_ADDR_LOOPBACK(address) ||
		       (IN6_IS_ADDR_V4MAPPED(address) &&
			address->s6_addr[12] == 127);

	const auto *address =
		reinterpret_cast<const sockaddr_in *>(info.ai_addr);

	return ntohl(address->sin_addr.s_addr) >> 24 == 127;
}

uncore::result<unique_fd> listen_at(const addrinfo &info,
				    const std::string &text)
{
	unique_fd descriptor(socket(
		info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	const int yes = 1;

	if (!descriptor)
		return failed(text, errno);
	setsockopt(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, &yes,
		   sizeof(yes));
	if (const in6_addr *address = ipv6_of(info)) {
		// [::] is every address of the machine, IPv4 included.
		const int ipv6_only = !IN6_IS_ADDR_UNSPECIFIED(address);

		setsockopt(descriptor.get(), IPPROTO_IPV6, IPV6_V6ONLY,
			   &ipv6_only, sizeof(ipv6_only));
	}
	if (!bind(descriptor.get(), info.ai_addr, info.ai_addrlen) &&
	    !listen(descriptor.get(), SOMAXCONN))
		return descriptor;
	if (errno == EADDRINUSE)
		return uncore::error{
			errc::system,
			fmt::format(
				"{}: another program listens there; choose another port with --listen",
				text)};
	return failed(text, errno);
}

/// Remove the socket file of a server that was killed.  If the server still runs, the
/// connection succeeds, and the file stays.
void remove_dead_socket(const sockaddr_un &address)
{
	const unique_fd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	struct stat status {};

	if (!stat(address.sun_path, &status) && S_ISSOCK(status.st_mode) &&
	    connect(probe.get(), reinterpret_cast<const sockaddr *>(&address),
		    sizeof(address)) &&
	    errno == ECONNREFUSED)
		unlink(address.sun_path);
}

/// Listen on a unix socket.
/// @param text "unix:PATH"
uncore::result<unique_fd> listen_at_path(const char *option,
					 const std::string &text)
{
	const std::string path = text.substr(unix_prefix.size());
	unique_fd descriptor(
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	sockaddr_un address{};

	address.sun_family = AF_UNIX;
	if (path.empty() || path.size() >= sizeof(address.sun_path))
		return no_address(option, text, "a path has 1 to 107 bytes");
	path.copy(address.sun_path, path.size());
	if (!descriptor)
		return failed(text, errno);
	remove_dead_socket(address);
	if (!bind(descriptor.get(), reinterpret_cast<sockaddr *>(&address),
		  sizeof(address)) &&
	    !listen(descriptor.get(), SOMAXCONN))
		return descriptor;
	if (errno == EADDRINUSE)
		return uncore::error{
			errc::system,
			fmt::format(
				"{}: another program listens there, or it is a file; choose another path",
				text)};
	return failed(text, errno);
}

/// Return the address of a socket with its port, such as "127.0.0.1:10331".
std::string name_of(int fd)
{
	sockaddr_storage bound{};
	socklen_t size = sizeof(bound);
	char host[NI_MAXHOST], port[NI_MAXSERV];
	auto *address = reinterpret_cast<sockaddr *>(&bound);

	if (getsockname(fd, address, &size))
		return "?";
	if (bound.ss_family == AF_UNIX)
		return fmt::format("{}{}", unix_prefix,
				   reinterpret_cast<const sockaddr_un *>(&bound)
					   ->sun_path);
	if (getnameinfo(address, size, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return "?";
	if (bound.ss_family == AF_INET6)
		return fmt::format("[{}]:{}", host, port);
	return fmt::format("{}:{}", host, port);
}

} // namespace

uncore::result<listeners::listener> listeners::open(const char *option,
						    const std::string &text)
{
	if (text.starts_with(unix_prefix)) {
		auto socket = listen_at_path(option, text);

		if (!socket)
			return socket.error();
		return listener{*std::move(socket), false};
	}

	const auto resolved = resolve(option, text);

	if (!resolved)
		return resolved.error();

	auto socket = listen_at(**resolved, text);

	if (!socket)
		return socket.error();
	return listener{*std::move(socket), is_loopback(**resolved)};
}

uncore::result<listeners>
listeners::open(const char *option, const std::vector<std::string> &addresses)
{
	listeners list;

	for (const std::string &text : addresses) {
		auto opened = open(option, text);

		if (!opened)
			return opened.error();
		list.listeners_.push_back(*std::move(opened));
	}
	return list;
}

listeners::~listeners()
{
	for (const listener &entry : listeners_)
		if (const std::string name = name_of(entry.socket.get());
		    name.starts_with(unix_prefix))
			unlink(name.c_str() + unix_prefix.size());
}

std::vector<std::string> listeners::names() const
{
	std::vector<std::string> list;

	for (const listener &entry : listeners_)
		list.push_back(name_of(entry.socket.get()));
	return list;
}

std::vector<int> listeners::fds() const
{
	std::vector<int> list;

	for (const listener &entry : listeners_)
		list.push_back(entry.socket.get());
	return list;
}

std::optional<accepted> listeners::accept(bool &failed)
{
	failed = false;
	for (const listener &entry : listeners_) {
		accepted connection;

		connection.size = sizeof(connection.address);
		connection.loopback = entry.loopback;
		connection.socket = unique_fd(accept4(
			entry.socket.get(),
			reinterpret_cast<sockaddr *>(&connection.address),
			&connection.size, SOCK_CLOEXEC | SOCK_NONBLOCK));
		if (connection.socket)
			return connection;
		// Other errors concern this connection only, or none is waiting.
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			failed = true;
	}
	return std::nullopt;
}

} // namespace cli
