// SPDX-License-Identifier: GPL-2.0-or-later
// Streams, answers without an end: each published message goes to all clients
// with a stream.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>

#include <microhttpd.h>

namespace cli {

class stream_list {
public:
	using message = std::shared_ptr<const std::string>;

	stream_list() = default;
	stream_list(const stream_list &) = delete;
	stream_list &operator=(const stream_list &) = delete;

	/// Begin a stream with a first message.
	/// @return nullptr when memory runs out.
	MHD_Response *begin(MHD_Connection *connection, message first);
	/// End the streams of clients that have disconnected, and check for
	/// room for another stream.
	bool has_room();
	size_t size() const;
	/// Send a message to all streams.  A client that is still receiving the
	/// message before misses this message, and is disconnected after a
	/// while.
	void publish(const message &next);
	/// Mark the stream of a closed connection.
	void close(MHD_Connection *connection);
	/// Resume all connections: the library does not stop while connections
	/// are suspended.
	void resume_all();

private:
	using clock = std::chrono::steady_clock;

	struct stream {
		MHD_Connection *connection; ///< nullptr when closed
		message sending;
		size_t sent;
		clock::time_point since; ///< time of the last message
		bool waiting;		 ///< suspended until the next message
	};
	/// Argument of the callbacks of the library.
	struct handle {
		std::list<stream> *list;
		std::list<stream>::iterator entry;
	};

	static ssize_t read(void *cls, uint64_t, char *buffer, size_t capacity);
	static void free(void *cls);
	static void end(stream &entry);

	std::list<stream> streams_;
};

} // namespace cli
