// SPDX-License-Identifier: GPL-2.0-or-later
// What uncore serve meets on its port: bytes on a connection to the real
// server, and paths and Accept headers for what is behind it, of a machine that
// has one PMU of the kernel's own.
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

/// How long the server may be silent before it is taken to wait for more.
constexpr int silence_ms = 5;
/// Inputs between two looks at what is open.
constexpr unsigned often = 256;

/// sysfs with a memory channel whose events are the kernel's own.
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
	auto made = http_server::start({{"127.0.0.1:0"}, {}, {}, {}},
				       [&pages](const http_request &request) {
					       return pages.answer(request);
				       });

	require(bool(made), "the server starts");
	return *std::move(made);
}

/// What is fuzzed; made once.
struct exporter {
	exporter()
		: counters({tree.folder(), false, true,
			    [](const std::string &said) {
				    require(!said.empty(), "it says something");
			    }}),
		  pages(counters), server(listening(pages))
	{
		const std::string url = server.urls().front();

		// Without leave to count it is a machine with a problem.
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
	sockaddr_in made{};

	made.sin_family = AF_INET;
	made.sin_port = htons(port);
	made.sin_addr.s_addr = htonl(address);
	return made;
}

/// libFuzzer's alarm can come in the middle of connect(), which continues then.
bool connects(int made)
{
	pollfd one = {made, POLLOUT, 0};
	int failure = 0;
	socklen_t size = sizeof(failure);

	while (poll(&one, 1, -1) < 0 && errno == EINTR)
		;
	return !getsockopt(made, SOL_SOCKET, SO_ERROR, &failure, &size) &&
	       !failure;
}

/// A connection to the server, each from another of 127.0.0.1 to 127.0.0.250.
/// The side that ends first keeps its port for a while (TIME_WAIT), and one
/// address has no more ports than a second or two of this take.
int connected(uint16_t port)
{
	static uint32_t last = 0;
	const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int yes = 1;
	const linger at_once = {1, 0};
	const sockaddr_in from = internet(INADDR_LOOPBACK + last, 0);
	const sockaddr_in to = internet(INADDR_LOOPBACK, port);

	last = (last + 1) % 250;
	require(made >= 0, "there is a socket");
	// connect() chooses the port, for this server alone.
	setsockopt(made, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes,
		   sizeof(yes));
	require(!bind(made, reinterpret_cast<const sockaddr *>(&from),
		      sizeof(from)),
		"an address of this machine can be used");
	require(!connect(made, reinterpret_cast<const sockaddr *>(&to),
			 sizeof(to)) ||
			(errno == EINTR && connects(made)),
		"it takes a connection");
	setsockopt(made, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	return made;
}

/// Sends all of it, takes what is answered until the server hangs up, or says
/// nothing more.
std::string answer_to(exporter &served, const uint8_t *data, size_t size)
{
	const int to = connected(served.port);
	std::string answer;
	size_t sent = 0;
	bool ended = false;

	while (!ended) {
		char part[65536];

		if (sent < size) {
			const ssize_t n = send(to, data + sent, size - sent,
					       MSG_DONTWAIT | MSG_NOSIGNAL);

			if (n > 0)
				sent += size_t(n);
			else if (errno != EAGAIN)
				sent = size; // it was hung up on
			if (sent == size)
				shutdown(to, SHUT_WR);
		}
		served.server.run();

		const ssize_t n = recv(to, part, sizeof(part), MSG_DONTWAIT);

		if (n > 0) {
			answer.append(part, size_t(n));
			continue;
		}
		if (!n || errno != EAGAIN)
			break;

		pollfd either[] = {
			{served.server.fd(), POLLIN, 0},
			{to, short(sent < size ? POLLIN | POLLOUT : POLLIN), 0},
		};

		ended = poll(either, 2, silence_ms) == 0;
	}
	close(to);
	served.server.run();
	return answer;
}

/// Of pipelined requests there are several answers; the first is looked at.
void check_answer(const std::string &answer)
{
	if (answer.empty())
		return; // an invalid request: disconnected
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

/// What is behind the server, asked directly: a path, and what is accepted.
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

	// Closed connections are freed by now, except a few streams, which the
	// next request for a stream ends.
	if (++inputs % often == 0) {
		if (!files)
			files = open_files();
		require(open_files() <= files + 40, "connections are closed");
	}
	return 0;
}
