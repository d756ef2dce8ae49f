// SPDX-License-Identifier: GPL-2.0-or-later
// The HTTP side of uncore serve: libmicrohttpd with limits, in one thread.  It
// answers GET and HEAD, takes nothing in, and knows nothing of counters.
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
	/// Further listeners, which answer /livez and /readyz alone, without
	/// TLS: probes have no certificate.
	std::vector<std::string> listen_health = {};
	/// Names that a Host header may have beside this machine's.
	std::vector<std::string> hosts;
	tls_files tls = {};
};

struct http_request {
	std::string_view path, accept;
	/// The value of "?NAME=VALUE"; empty when there is none.
	std::function<std::string_view(const char *name)> argument = {};
};

/// An answer that is made while it is taken.
class http_source {
public:
	virtual ~http_source() = default;
	/// @return how much of @p most was written; 0 at the end, -1 for an
	/// answer that cannot be finished.
	virtual ssize_t read(char *to, size_t most) = 0;
};

struct http_reply {
	unsigned status = 200;
	std::string type;
	/// May be one that others are being answered with.
	std::shared_ptr<const std::string> body;
	/// Instead of a body.
	std::shared_ptr<http_source> source = {};
	/// Does what is published follow the body, for as long as the client
	/// stays?  503 is answered instead above the limit of streams.
	bool stream = false;
};

class http_server {
public:
	using handler = std::function<http_reply(const http_request &)>;

	/// Errors: errc::invalid (an address), errc::system (port in use,
	/// files).
	static uncore::result<http_server> start(const http_options &options,
						 handler answer);
	http_server(http_server &&) noexcept;
	~http_server();

	/// "http://127.0.0.1:10331" or "unix:PATH" of each address, with the
	/// ports that were chosen for 0, without those of listen_health.
	const std::vector<std::string> &urls() const;

	/// To be waited for until it is readable or it is that time, if there
	/// is any; then run() is due.
	int fd() const;
	std::optional<std::chrono::steady_clock::time_point> deadline() const;
	void run();
	/// Read certificates again.  run() does so when the files have changed.
	void reload();

	/// Sends that to all streams.  A client that has not taken the message
	/// before does without this one, and is disconnected when that takes
	/// long.
	void publish(const std::shared_ptr<const std::string> &message);
	/// How many have one.
	size_t streams() const;

private:
	struct state;

	explicit http_server(std::unique_ptr<state> made);
	static uncore::result<http_server>
	open(const char *option, const http_options &options, handler answer,
	     std::optional<http_server> health);
	std::unique_ptr<state> state_;
};

} // namespace cli
