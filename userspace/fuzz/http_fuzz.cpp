// SPDX-License-Identifier: GPL-2.0-or-later
// Fuzz uncore serve: send the input on a connection to the real HTTP server, and
// give it as a path and an Accept header to the site behind the server. The machine
// has one memory channel, with an event that every kernel can count.
#include "fuzz.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/collector.hpp"
#include "http/server.hpp"
#include "serve/site.hpp"

using namespace cli;

namespace {

/// Time without an answer after which the server is assumed to wait for more input.
constexpr int silence_ms = 5;
/// Number of inputs between two checks of the open descriptors.
constexpr unsigned often = 256;

/// sysfs with a memory channel. The PMU's type is 1, PERF_TYPE_SOFTWARE, so that
/// its events can be opened without uncore hardware.
class one_channel {
public:
	one_channel()
	{
		char name[] = "/tmp/http-fuzz-XXXXXX";

		require(mkdtemp(name), "a folder can be made");
		folder_ = name;
		put("bus/event_source/devices/hswep_imc_0/type", "1");
		put("bus/event_source/devices/hswep_imc_0/cpumask", "0");
		put("bus/event_source/devices/hswep_imc_0/format/event",
		    "config1:0-7");
		put("bus/event_source/devices/hswep_imc_0/format/umask",
		    "config1:8-15");
		put("devices/system/cpu/online", "0");
		put("devices/system/cpu/cpu0/topology/physical_package_id",
		    "0");
	}
	~one_channel()
	{
		std::error_code ignored;

		std::filesystem::remove_all(folder_, ignored);
	}
	const std::filesystem::path &folder() const { return folder_; }

private:
	void put(const char *path, const char *text)
	{
		const auto file = folder_ / path;

		std::filesystem::create_directories(file.parent_path());
		std::ofstream(file) << text << '\n';
	}

	std::filesystem::path folder_;
};

/// Count the entries of /proc/self/fd.
size_t open_files()
{
	DIR *folder = opendir("/proc/self/fd");
	size_t n = 0;

	while (folder && readdir(folder))
		n++;
	if (folder)
		closedir(folder);
	return n;
}

http_server listening(site &pages)
{
	auto server = http_server::start({{"127.0.0.1:0"}, {}, {}, {}},
					 [&pages](const http_request &request) {
						 return pages.answer(request);
					 });

	require(bool(server), "the server starts");
	return *std::move(server);
}

/// The exporter that is fuzzed, created once for all inputs.
struct exporter {
	exporter()
		: counters({tree.folder(), false, true,
			    [](const std::string &message) {
				    require(!message.empty(),
					    "it says something");
			    }}),
		  pages(counters), server(listening(pages))
	{
		const std::string url = server.urls().front();

		// If this user may not count, the site reports a problem.
		(void)counters.open();
		port = uint16_t(std::stoul(url.substr(url.rfind(':') + 1)));
	}

	one_channel tree;
	collector counters;
	site pages;
	http_server server;
	uint16_t port = 0;
};

sockaddr_in internet(uint32_t address, uint16_t port)
{
	sockaddr_in name{};

	name.sin_family = AF_INET;
	name.sin_port = htons(port);
	name.sin_addr.s_addr = htonl(address);
	return name;
}

/// Wait for the end of a connect() that a signal interrupted: libFuzzer's alarm
/// may come at any time, and the connection is then made in the background.
bool connects(int fd)
{
	pollfd writable = {fd, POLLOUT, 0};
	int failure = 0;
	socklen_t size = sizeof(failure);

	while (poll(&writable, 1, -1) < 0 && errno == EINTR)
		;
	return !getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) &&
	       !failure;
}

/// Connect to the server, from each of the addresses 127.0.0.1 to 127.0.0.250 in
/// turn. The side that closes a connection first keeps its port for a while
/// (TIME_WAIT): a single address would run out of ports in a second or two.
int connected(uint16_t port)
{
	static uint32_t last = 0;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int yes = 1;
	const linger at_once = {1, 0};
	const sockaddr_in source = internet(INADDR_LOOPBACK + last, 0);
	const sockaddr_in server = internet(INADDR_LOOPBACK, port);

	last = (last + 1) % 250;
	require(fd >= 0, "there is a socket");
	// Let connect() choose the source port, which need be unique only among
	// the connections to this server.
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof(yes));
	require(!bind(fd, reinterpret_cast<const sockaddr *>(&source),
		      sizeof(source)),
		"an address of this machine can be used");
	require(!connect(fd, reinterpret_cast<const sockaddr *>(&server),
			 sizeof(server)) ||
			(errno == EINTR && connects(fd)),
		"it takes a connection");
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	return fd;
}

/// Send all data, and receive the answer until the server closes the connection or
/// is silent for silence_ms.
std::string answer_to(exporter &served, const uint8_t *data, size_t size)
{
	const int fd = connected(served.port);
	std::string answer;
	size_t sent = 0;
	bool ended = false;

	while (!ended) {
		char part[65536];

		if (sent < size) {
			const ssize_t n = send(fd, data + sent, size - sent,
					       MSG_DONTWAIT | MSG_NOSIGNAL);

			if (n > 0)
				sent += size_t(n);
			else if (errno != EAGAIN)
				sent = size; // the server closed the connection
			if (sent == size)
				shutdown(fd, SHUT_WR);
		}
		served.server.run();

		const ssize_t n = recv(fd, part, sizeof(part), MSG_DONTWAIT);

		if (n > 0) {
			answer.append(part, size_t(n));
			continue;
		}
		if (!n || errno != EAGAIN)
			break;

		pollfd either[] = {
			{served.server.fd(), POLLIN, 0},
			{fd, short(sent < size ? POLLIN | POLLOUT : POLLIN), 0},
		};

		ended = poll(either, 2, silence_ms) == 0;
	}
	close(fd);
	served.server.run();
	return answer;
}

/// Check the first answer. Pipelined requests have several answers.
void check_answer(const std::string &answer)
{
	if (answer.empty())
		return; // the server disconnects after an invalid request
	require(answer.starts_with("HTTP/1.1 ") ||
			answer.starts_with("HTTP/1.0 "),
		"an answer is HTTP");
	require(answer.size() > 12, "an answer has a status");

	const int status = std::atoi(answer.substr(9, 3).c_str());

	for (const int known : {100, 200, 400, 403, 404, 405, 408, 411, 413,
				414, 431, 500, 501, 503, 505})
		if (status == known)
			return;
	require(false, "a status is one of those that there are");
}

/// Ask the site without the HTTP server: the first line of the text is the path, the
/// rest the Accept header.
void check_site(exporter &served, std::string_view text)
{
	const size_t end = text.find('\n');
	const std::string_view path = text.substr(0, end);
	const std::string_view accept =
		end == text.npos ? "" : text.substr(end + 1);
	const http_reply reply = served.pages.answer({path, accept});

	require(reply.status == 200 || reply.status == 404 ||
			reply.status == 503,
		"a page is there or not");
	require(reply.body && !reply.body->empty(), "an answer says something");
	require(!reply.type.empty() &&
			reply.type.find_first_of("\r\n") == reply.type.npos,
		"an answer has a type, in one line");
	require(choose_form(accept) != exposition::json,
		"only its own path serves JSON");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static exporter served;
	static unsigned inputs = 0;
	static size_t files = 0;

	check_site(served, as_text(data, size));
	check_answer(answer_to(served, data, size));
	require(served.server.streams() <= 32, "streams are bounded");

	// By now the descriptors of closed connections are free, except those of
	// a few streams, which the next request for a stream ends.
	if (++inputs % often == 0) {
		if (!files)
			files = open_files();
		require(open_files() <= files + 40, "connections are closed");
	}
	return 0;
}
