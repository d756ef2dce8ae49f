// SPDX-License-Identifier: GPL-2.0-or-later
// The connections of uncore serve: for how long each has been waiting, and
// which of them gives way when there are too many.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include <microhttpd.h>

namespace cli {

/// In which a request has to come, and each part of its answer to be taken;
/// also how long a connection is kept without one.
constexpr std::chrono::seconds request_time{20};

/// A connection.
struct client {
	/// Of IPv4, or the network of IPv6.
	using address = std::pair<uint64_t, uint64_t>;

	int fd;
	address from;
	std::chrono::steady_clock::time_point since;
	bool loopback = false; ///< of a listener that others do not reach
	bool ended = false;
	bool answered = false; ///< and takes the answer
	bool streams = false;  ///< has an answer without an end
};

class client_list {
public:
	using clock = std::chrono::steady_clock;

	/// A connection that the library will start.
	void expect(int fd, bool loopback) { expected_[fd] = loopback; }
	void forget(int fd) { expected_.erase(fd); }
	void start(MHD_Connection *connection, void **context);
	void close(void **context);

	/// nullptr where there is none any more.
	static client *of(MHD_Connection *connection);
	/// Its request has ended, or a part of its answer was taken: it waits
	/// anew.
	void waits_anew(MHD_Connection *connection);
	static void end(client &one);

	size_t size() const { return all_.size(); }
	/// Ends the one that costs others least: of the address with the most
	/// connections, the one that has been waiting longest, first those
	/// without a request.  @return whether there was one.
	bool give_way();
	/// The library's own limit is for silence: a byte now and then would
	/// do.
	void end_slow();
	/// The library sees an event once.  Where a request and its client's
	/// end come together it handles the first alone, and would keep the
	/// connection.
	void end_closed();
	/// When end_slow() is due.
	std::optional<clock::time_point> deadline() const;

private:
	using place = std::list<client>::iterator;

	static place *place_of(MHD_Connection *connection);

	std::list<client> all_; ///< those that wait longest first
	std::unordered_map<int, bool> expected_;
};

} // namespace cli
