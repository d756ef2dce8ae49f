// SPDX-License-Identifier: GPL-2.0-or-later
#include "regions/region_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <uncore/uncore.h>

#include "region_protocol.hpp"

namespace cli {

using uncore::region_call;
using uncore::region_request;

/// Messages that receive() takes at most, so that a program that never waits for a reply
/// does not keep it from its work.
static constexpr size_t most_messages = 10000;
/// Longest plausible time of a call, an hour, in nanoseconds.
static constexpr uint64_t longest_call = 3600000000000;

static uncore::error socket_error(const char *call)
{
	return {uncore::errc::system,
		fmt::format("a socket for --regions: {}: {}", call,
			    strerror(errno))};
}

uncore::result<std::unique_ptr<region_socket>> region_socket::open()
{
	std::unique_ptr<region_socket> opened(new region_socket);

	if (auto outcome = opened->listen(); !outcome)
		return outcome.error();
	return opened;
}

uncore::result<void> region_socket::listen()
{
	// Only the user can reach a socket in this folder.  /tmp and not TMPDIR, as the
	// path of a socket has 107 bytes at most.
	char folder[] = "/tmp/uncore-XXXXXX";
	sockaddr_un address{AF_UNIX, {}};
	epoll_event event{EPOLLIN, {}};

	if (!mkdtemp(folder))
		return socket_error(folder);
	folder_ = folder;
	path_ = folder_ + "/regions";
	path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
	listening_ = unique_fd(socket(
		AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	poll_ = unique_fd(epoll_create1(EPOLL_CLOEXEC));
	event.data.fd = listening_.get();
	if (bind(listening_.get(), reinterpret_cast<sockaddr *>(&address),
		 sizeof(address)))
		return socket_error("bind");
	if (::listen(listening_.get(), SOMAXCONN) ||
	    epoll_ctl(poll_.get(), EPOLL_CTL_ADD, listening_.get(), &event) ||
	    setenv(uncore::regions_variable, path_.c_str(), 1))
		return socket_error("listen");
	return {};
}

region_socket::~region_socket()
{
	unsetenv(uncore::regions_variable);
	unlink(path_.c_str());
	rmdir(folder_.c_str());
}

/// Describe the process at the other end of a connection.
static std::string peer_of(int fd)
{
	ucred peer{};
	socklen_t size = sizeof(peer);
	std::string name;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return "a process";
	std::getline(std::ifstream(fmt::format("/proc/{}/comm", peer.pid)),
		     name);
	return fmt::format("{} (process {})", name, peer.pid);
}

void region_socket::accept()
{
	int fd;

	while ((fd = accept4(listening_.get(), nullptr, nullptr,
			     SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		epoll_event event{EPOLLIN, {}};
		unique_fd accepted(fd);

		event.data.fd = fd;
		if (!epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event))
			connections_[fd] = {std::move(accepted), peer_of(fd)};
	}
	// Waiting connections would make the descriptor readable all the time.
	if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) {
		full_ = true;
		listening_ = unique_fd();
	}
}

std::vector<region_message> region_socket::receive()
{
	std::vector<region_message> messages;
	std::array<epoll_event, 64> events;

	while (messages.size() < most_messages) {
		const int n = epoll_wait(poll_.get(), events.data(),
					 int(events.size()), 0);

		for (int i = 0; i < n; i++)
			if (events[size_t(i)].data.fd == listening_.get())
				accept();
			else
				receive(events[size_t(i)].data.fd, messages);
		if (n <= 0)
			break;
	}
	return messages;
}

/// Receive a message of a thread.  A malformed message ends the connection, as the end
/// of the thread does.
void region_socket::receive(int thread, std::vector<region_message> &messages)
{
	char bytes[sizeof(region_request) + uncore::longest_region + 1 +
		   uncore::longest_cpu_mask];
	const ssize_t size = recv(thread, bytes, sizeof(bytes), MSG_TRUNC);

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size > 0 && size_t(size) <= sizeof(bytes) &&
	    parse(thread, {bytes, size_t(size)}, messages))
		return;
	messages.push_back({region_message::kind::closed, thread, {}, {}, {}});
	connections_.erase(thread);
}

/// Return the CPUs of a mask in the layout of sched_getaffinity(2).
static std::vector<int> cpus_of(std::string_view mask)
{
	std::vector<int> cpus;

	for (size_t i = 0; i < mask.size() * CHAR_BIT; i++)
		if (mask[i / CHAR_BIT] >> (i % CHAR_BIT) & 1)
			cpus.push_back(int(i));
	return cpus;
}

/// @return false for a malformed message.
bool region_socket::parse(int thread, std::string_view bytes,
			  std::vector<region_message> &messages)
{
	region_request request;

	if (bytes.size() < sizeof(request))
		return false;
	memcpy(&request, bytes.data(), sizeof(request));
	bytes.remove_prefix(sizeof(request));
	if (request.protocol != uncore::region_protocol) {
		reply(thread, UNCORE_UNSUPPORTED);
		return true;
	}
	if ((request.call != region_call::begin &&
	     request.call != region_call::end) ||
	    request.name_size > bytes.size() ||
	    request.name_size > uncore::longest_region + 1)
		return false;
	messages.push_back({request.call == region_call::begin
				    ? region_message::kind::begin
				    : region_message::kind::end,
			    thread,
			    std::string(bytes.substr(0, request.name_size)),
			    cpus_of(bytes.substr(request.name_size)),
			    std::chrono::nanoseconds(
				    std::min(request.took, longest_call))});
	return true;
}

void region_socket::reply(int thread, int status)
{
	const int32_t code = status;

	// If a program does not take its replies, its connection is closed.
	if (send(thread, &code, sizeof(code), MSG_NOSIGNAL | MSG_DONTWAIT) !=
	    sizeof(code))
		shutdown(thread, SHUT_RDWR);
}

} // namespace cli
