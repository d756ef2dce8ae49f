// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of uncore serve and their answers.  All forms share the numbers of the
// same reads, at most 20 reads a second.
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

/// Site of the machine that runs the program.
class site {
public:
	using clock = std::chrono::steady_clock;

	explicit site(collector &counters) : counters_(counters) {}

	http_reply answer(const http_request &request);

	/// Return the time of the next snapshot for the event streams.
	std::optional<clock::time_point>
	deadline(const http_server &server) const;
	/// Send the snapshot if it is due.
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

/// Site of a recording.
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
