// SPDX-License-Identifier: GPL-2.0-or-later
// The answers of uncore serve to HTTP requests, by path.  Requests that arrive within 50 ms
// share a read of the counters, so there are at most 20 reads a second.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exporter/collector.hpp"
#include "exporter/limits.hpp"
#include "http/server.hpp"
#include "serve/recording.hpp"

namespace cli {

/// Answers with the counters of the machine on which the program runs.
class site {
public:
	using clock = std::chrono::steady_clock;

	explicit site(collector &counters) : counters_(counters) {}

	http_reply answer(const http_request &request);

	/// Return the time at which the next snapshot has to be sent to the event
	/// streams; nothing without a client that receives a stream.
	std::optional<clock::time_point>
	deadline(const http_server &server) const;
	/// Send a snapshot if it is due.
	void publish(http_server &server);

private:
	using text = std::shared_ptr<const std::string>;

	void refresh();
	text metrics(exposition form);
	text topology() const;
	const text &message();

	collector &counters_;
	std::vector<family> families_;
	std::map<exposition, text> rendered_;
	text snapshot_, message_;
	limit_uses uses_;
	clock::time_point read_at_{}, published_{}, judged_at_{};
};

/// Answers with a recording.
class replay_site {
public:
	explicit replay_site(recording replayed);

	http_reply answer(const http_request &request) const;

private:
	http_reply snapshots(const http_request &request) const;

	recording recording_;
	std::shared_ptr<const std::string> topology_;
};

} // namespace cli
