// SPDX-License-Identifier: GPL-2.0-or-later
// The client connections of uncore serve: ends connections that are too slow, and chooses
// the connection to end when there are too many.  "The library" is libmicrohttpd.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include <microhttpd.h>

namespace cli {

/// Longest time for receiving a request, for sending each part of its answer, and for
/// keeping a connection without a request.
constexpr std::chrono::seconds request_time{20};

/// A client's connection.
struct client {
	/// IPv6 network of 64 bits and 0, or 0 and an IPv4 address.
	using address = std::pair<uint64_t, uint64_t>;

	int fd;
	address network;
	/// Begin of the waiting time: the last progress, see waits_anew().
	std::chrono::steady_clock::time_point since;
	/// Whether only this machine reaches the listener.
	bool loopback = false;
	bool ended = false;    ///< by this server; the library closes it later
	bool answered = false; ///< is receiving its answer
	bool streams = false;  ///< receives a stream, an answer without an end
};

/// All connections.  The library keeps a pointer (the context) with each connection, which
/// refers to the connection's client in the list.
class client_list {
public:
	using clock = std::chrono::steady_clock;

	/// Store the listener's property for a connection that is passed to the
	/// library, which calls start() later.
	void expect(int fd, bool loopback) { expected_[fd] = loopback; }
	/// The library has rejected the connection.
	void forget(int fd) { expected_.erase(fd); }
	/// Add a client, when the library starts a connection.
	void start(MHD_Connection *connection, void **context);
	/// Remove a client, when the library closes its connection.
	void close(void **context);

	/// Return the client of a connection; nullptr after close().
	static client *find(MHD_Connection *connection);
	/// Restart the waiting time of a client, because its request has ended or
	/// it has received a part of its answer.
	void waits_anew(MHD_Connection *connection);
	/// Shut a connection down.
	static void end(client &peer);

	size_t size() const { return clients_.size(); }
	/// Make room for a new connection: of the address with the most
	/// connections, end the connection that has been waiting longest.
	/// Prefer connections that are not receiving an answer; never end
	/// streams.
	/// @return whether a connection was ended.
	bool give_way();
	/// End the connections that have been waiting longer than request_time.
	/// The library's own limit is not enough, as it is for silence: a client
	/// that sends a byte now and then keeps its connection open.
	void end_slow();
	/// End the connections that their clients have closed.  The library
	/// gets each event once: if a request and the client's close arrive
	/// together, it handles the request and does not notice the close.
	void end_closed();
	/// Return the time at which end_slow() is due.
	std::optional<clock::time_point> deadline() const;

private:
	using place = std::list<client>::iterator;

	static place *place_of(MHD_Connection *connection);

	std::list<client> clients_; ///< longest waiting time first
	std::unordered_map<int, bool> expected_; ///< client::loopback, by fd
};

} // namespace cli
