// SPDX-License-Identifier: GPL-2.0-or-later
// What uncore serve answers at which path.  Numbers of all forms are of the
// same reads, of which there are at most 20 a second.
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

/// A machine that is counted now.
class site {
public:
	using clock = std::chrono::steady_clock;

	explicit site(collector &counters) : counters_(counters) {}

	http_reply answer(const http_request &to);

	/// When the next snapshot of the event streams is due.
	std::optional<clock::time_point> deadline(const http_server &of) const;
	/// Sends it when it is.
	void publish(http_server &to);

private:
	using text = std::shared_ptr<const std::string>;

	void refresh();
	text metrics(exposition form);
	text topology() const;
	const text &message();

	collector &counters_;
	std::vector<family> known_;
	std::map<exposition, text> rendered_;
	text snapshot_, message_;
	limit_uses uses_;
	clock::time_point read_at_{}, published_{}, judged_at_{};
};

/// A recording.
class replay_site {
public:
	explicit replay_site(recording shown);

	http_reply answer(const http_request &to) const;

private:
	http_reply snapshots(const http_request &to) const;

	recording shown_;
	std::shared_ptr<const std::string> topology_;
};

} // namespace cli
