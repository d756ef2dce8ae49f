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

uncore::error failed(const std::string &what, int number)
{
	return {errc::system, fmt::format("{}: {}", what, strerror(number))};
}

uncore::error no_address(const char *option, const std::string &text,
			 const char *why)
{
	return {errc::invalid,
		fmt::format(
			"{} {}: {}; write ADDRESS:PORT, such as 127.0.0.1:10331 or [::1]:10331, or unix:PATH",
			option, text, why)};
}

/// A numeric address and a port.
uncore::result<addresses> resolve(const char *option, const std::string &text)
{
	const size_t colon = text.rfind(':');
	std::string host = text.substr(0, colon);
	addrinfo hints{}, *found = nullptr;

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
	if (int err = getaddrinfo(host.c_str(), port.c_str(), &hints, &found))
		return no_address(option, text, gai_strerror(err));
	return addresses(found);
}

const in6_addr *ipv6_of(const addrinfo &where)
{
	if (where.ai_family != AF_INET6)
		return nullptr;
	return &reinterpret_cast<const sockaddr_in6 *>(where.ai_addr)
			->sin6_addr;
}

bool is_loopback(const addrinfo &where)
{
	if (const in6_addr *address = ipv6_of(where))
		return IN6_IS_ADDR_LOOPBACK(address) ||
		       (IN6_IS_ADDR_V4MAPPED(address) &&
			address->s6_addr[12] == 127);

	const auto *address =
		reinterpret_cast<const sockaddr_in *>(where.ai_addr);

	return ntohl(address->sin_addr.s_addr) >> 24 == 127;
}

uncore::result<unique_fd> listen_at(const addrinfo &where,
				    const std::string &text)
{
	unique_fd made(socket(where.ai_family,
			      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	const int yes = 1;

	if (!made)
		return failed(text, errno);
	setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (const in6_addr *address = ipv6_of(where)) {
		// [::] is every address of the machine, IPv4's as well.
		const int only = !IN6_IS_ADDR_UNSPECIFIED(address);

		setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only,
			   sizeof(only));
	}
	if (!bind(made.get(), where.ai_addr, where.ai_addrlen) &&
	    !listen(made.get(), SOMAXCONN))
		return made;
	if (errno == EADDRINUSE)
		return uncore::error{
			errc::system,
			fmt::format(
				"{}: another program listens there; choose another port with --listen",
				text)};
	return failed(text, errno);
}

/// Remove the socket of a server that has ended without removing its socket.
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

/// @param text "unix:PATH"
uncore::result<unique_fd> listen_at_path(const char *option,
					 const std::string &text)
{
	const std::string path = text.substr(unix_prefix.size());
	unique_fd made(
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	sockaddr_un address{};

	address.sun_family = AF_UNIX;
	if (path.empty() || path.size() >= sizeof(address.sun_path))
		return no_address(option, text, "a path has 1 to 107 bytes");
	path.copy(address.sun_path, path.size());
	if (!made)
		return failed(text, errno);
	remove_dead_socket(address);
	if (!bind(made.get(), reinterpret_cast<sockaddr *>(&address),
		  sizeof(address)) &&
	    !listen(made.get(), SOMAXCONN))
		return made;
	if (errno == EADDRINUSE)
		return uncore::error{
			errc::system,
			fmt::format(
				"{}: another program listens there, or it is a file; choose another path",
				text)};
	return failed(text, errno);
}

/// "127.0.0.1:10331" of a socket, with the port that it got.
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

	const auto where = resolve(option, text);

	if (!where)
		return where.error();

	auto socket = listen_at(**where, text);

	if (!socket)
		return socket.error();
	return listener{*std::move(socket), is_loopback(**where)};
}

uncore::result<listeners>
listeners::open(const char *option, const std::vector<std::string> &addresses)
{
	listeners made;

	for (const std::string &text : addresses) {
		auto opened = open(option, text);

		if (!opened)
			return opened.error();
		made.all_.push_back(*std::move(opened));
	}
	return made;
}

listeners::~listeners()
{
	for (const listener &one : all_)
		if (const std::string name = name_of(one.socket.get());
		    name.starts_with(unix_prefix))
			unlink(name.c_str() + unix_prefix.size());
}

std::vector<std::string> listeners::names() const
{
	std::vector<std::string> all;

	for (const listener &one : all_)
		all.push_back(name_of(one.socket.get()));
	return all;
}

std::vector<int> listeners::fds() const
{
	std::vector<int> all;

	for (const listener &one : all_)
		all.push_back(one.socket.get());
	return all;
}

std::optional<accepted> listeners::accept(bool &failed)
{
	failed = false;
	for (const listener &one : all_) {
		accepted made;

		made.size = sizeof(made.from);
		made.loopback = one.loopback;
		made.socket = unique_fd(
			accept4(one.socket.get(),
				reinterpret_cast<sockaddr *>(&made.from),
				&made.size, SOCK_CLOEXEC | SOCK_NONBLOCK));
		if (made.socket)
			return made;
		// Others are the connection's own errors.
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			failed = true;
	}
	return std::nullopt;
}

} // namespace cli
