// SPDX-License-Identifier: GPL-2.0-or-later
// The HTTP server of uncore serve: libmicrohttpd ("the library") with limits, in one
// thread.  The caller polls fd() and calls run().  The server answers GET and HEAD and
// ignores request bodies.  It knows nothing of counters: a handler makes the answers.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>

#include "http/tls.hpp"

namespace cli {

struct http_options {
	/// "127.0.0.1:10331", "[::1]:0", "unix:/run/uncore.sock"
	std::vector<std::string> listen;
	/// Further listeners, which answer only /livez and /readyz, without
	/// TLS: probes have no certificate.
	std::vector<std::string> listen_health = {};
	/// Names allowed in a Host header beside the names of this machine.
	std::vector<std::string> hosts;
	tls_files tls = {};
};

struct http_request {
	std::string_view path, accept;
	/// Getter of VALUE in "?NAME=VALUE"; empty without the argument.
	std::function<std::string_view(const char *name)> argument = {};
};

/// Source of a large answer that is generated while the client receives it.
class http_source {
public:
	virtual ~http_source() = default;
	/// Write the next part of the answer, @p capacity bytes at most.
	/// @return bytes written; 0 at the end, -1 if the answer cannot be
	/// finished.
	virtual ssize_t read(char *buffer, size_t capacity) = 0;
};

struct http_reply {
	unsigned status = 200;
	std::string type;
	/// Body, which several answers may share.
	std::shared_ptr<const std::string> body;
	/// Source of the answer, instead of a body.
	std::shared_ptr<http_source> source = {};
	/// Whether the answer is a stream: after the body, the client gets each
	/// message of publish(), for as long as it stays connected.  If there are
	/// too many streams, the answer is 503.
	bool stream = false;
};

class http_server {
public:
	using handler = std::function<http_reply(const http_request &)>;

	/// Start a server.  Errors: errc::invalid (an address), errc::system
	/// (port in use, files).
	static uncore::result<http_server> start(const http_options &options,
						 handler answer);
	http_server(http_server &&) noexcept;
	~http_server();

	/// Return "http://127.0.0.1:10331" or "unix:PATH" of each address
	/// except listen_health, with the chosen ports instead of 0.
	const std::vector<std::string> &urls() const;

	/// Return the descriptor to poll.  Call run() when it is readable, and at
	/// deadline(), if there is a deadline.
	int fd() const;
	std::optional<std::chrono::steady_clock::time_point> deadline() const;
	void run();
	/// Read certificates again.  run() does so when the files have changed.
	void reload();

	/// Send a message to all streams.  A client that is still receiving an
	/// earlier message does not get this message; if it takes too long, it is
	/// disconnected.
	void publish(const std::shared_ptr<const std::string> &message);
	/// Return the number of clients with a stream.
	size_t streams() const;

private:
	struct state;

	explicit http_server(std::unique_ptr<state> prepared);
	static uncore::result<http_server>
	open(const char *option, const http_options &options, handler answer,
	     std::optional<http_server> health);
	std::unique_ptr<state> state_;
};

} // namespace cli
