// SPDX-License-Identifier: GPL-2.0-or-later
// Answers without an end: each message that is published goes to all clients
// that have one.
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

	/// @return nullptr when memory runs out.
	MHD_Response *begin(MHD_Connection *to, message first);
	/// Is there room for one more, of clients that are still there?
	bool has_room();
	size_t size() const;
	/// Clients that have not taken the message before do without this one,
	/// and are disconnected when that takes long.
	void publish(const message &next);
	/// Its connection is closed.
	void close(MHD_Connection *connection);
	/// The library does not stop while connections are suspended.
	void resume_all();

private:
	using clock = std::chrono::steady_clock;

	struct stream {
		MHD_Connection *connection; ///< nullptr when it is closed
		message sending;
		size_t sent;
		clock::time_point since; ///< when there was something to send
		bool waiting;		 ///< for the next; suspended then
	};
	/// What the library hands back.
	struct handle {
		std::list<stream> *all;
		std::list<stream>::iterator one;
	};

	static ssize_t read(void *cls, uint64_t, char *to, size_t most);
	static void free(void *cls);
	static void end(stream &one);

	std::list<stream> all_;
};

} // namespace cli
