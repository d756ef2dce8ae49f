// SPDX-License-Identifier: GPL-2.0-or-later
// The HTTP side of uncore serve: libmicrohttpd with limits, in one thread.  The
// server answers GET and HEAD, ignores request bodies, and does not depend on
// counters.
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

/// Source of an answer that is generated while the client receives it.
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
	/// Whether published messages follow the body, for as long as the
	/// client stays connected.  Above the limit of streams the answer is
	/// 503.
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

	/// Return the descriptor to poll: run() is due when it is readable, or
	/// at deadline(), if there is a deadline.
	int fd() const;
	std::optional<std::chrono::steady_clock::time_point> deadline() const;
	void run();
	/// Read certificates again.  run() does so when the files have changed.
	void reload();

	/// Send a message to all streams.  A client that is still receiving the
	/// message before misses this message, and is disconnected after a
	/// while.
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
