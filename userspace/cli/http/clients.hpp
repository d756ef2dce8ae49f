// SPDX-License-Identifier: GPL-2.0-or-later
// The connections of uncore serve: the time that each has been waiting, and the
// choice of a connection to end when there are too many.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include <microhttpd.h>

namespace cli {

/// Limit for receiving a request, for sending each part of its answer, and for
/// keeping an idle connection.
constexpr std::chrono::seconds request_time{20};

/// A client's connection.
struct client {
	/// IPv4 address, or IPv6 network.
	using address = std::pair<uint64_t, uint64_t>;

	int fd;
	address network;
	std::chrono::steady_clock::time_point since;
	/// Whether only this machine reaches the listener.
	bool loopback = false;
	bool ended = false;
	bool answered = false; ///< is receiving its answer
	bool streams = false;  ///< receives a stream
};

class client_list {
public:
	using clock = std::chrono::steady_clock;

	/// Note a connection that the library will start.
	void expect(int fd, bool loopback) { expected_[fd] = loopback; }
	void forget(int fd) { expected_.erase(fd); }
	void start(MHD_Connection *connection, void **context);
	void close(void **context);

	/// Return the client of a connection; nullptr if there is no client any
	/// more.
	static client *find(MHD_Connection *connection);
	/// Restart the waiting time of a client: its request has ended, or it
	/// has received a part of its answer.
	void waits_anew(MHD_Connection *connection);
	static void end(client &peer);

	size_t size() const { return clients_.size(); }
	/// End the connection that has been waiting longest, of the address
	/// with the most connections.  Connections without a request come
	/// first.
	/// @return whether a connection was ended.
	bool give_way();
	/// End the connections that exceed request_time.  The library's own
	/// limit is for silence: a byte now and then keeps a connection open.
	void end_slow();
	/// End the connections that their clients have closed.  The library
	/// sees an event once: if a request and the client's close arrive
	/// together, it handles the request alone and keeps the connection.
	void end_closed();
	/// Return the time at which end_slow() is due.
	std::optional<clock::time_point> deadline() const;

private:
	using place = std::list<client>::iterator;

	static place *place_of(MHD_Connection *connection);

	std::list<client> clients_; ///< longest waiting time first
	std::unordered_map<int, bool> expected_;
};

} // namespace cli
