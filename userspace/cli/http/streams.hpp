// SPDX-License-Identifier: GPL-2.0-or-later
// Streams: answers without an end.  Each published message is sent to all clients with a
// stream.  Between two messages the connection is suspended: libmicrohttpd ("the
// library") does not ask for data until it is resumed.
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
	/// Send a message to all streams.  A client that is still receiving an
	/// earlier message does not get this message; if it takes longer than
	/// message_time, it is disconnected.
	void publish(const message &next);
	/// Mark the stream of a closed connection.
	void close(MHD_Connection *connection);
	/// Resume all connections before the library is stopped, which requires
	/// that no connection is suspended.
	void resume_all();

private:
	using clock = std::chrono::steady_clock;

	struct stream {
		MHD_Connection *connection; ///< nullptr when closed
		message sending;	 ///< the current message
		size_t sent;		 ///< bytes of the message
		clock::time_point since; ///< begin of the message
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
