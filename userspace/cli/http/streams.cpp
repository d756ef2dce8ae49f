// SPDX-License-Identifier: GPL-2.0-or-later
#include "http/streams.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>

#include "http/clients.hpp"

namespace cli {

namespace {

/// Limit of streams.  A stream is not ended to make room for new connections, so without
/// the limit a few clients could occupy all connections.
constexpr size_t most_streams = 32;
/// Longest time for a client to receive a message.
constexpr std::chrono::seconds message_time{10};
/// Bytes that the kernel buffers for a slow client (SO_SNDBUF).
constexpr int stream_buffer = 16 * 1024;

} // namespace

/// Send the rest of the current message, or suspend the connection until the
/// next.
ssize_t stream_list::read(void *cls, uint64_t, char *buffer, size_t capacity)
{
	stream &entry = *static_cast<handle *>(cls)->entry;
	const size_t rest = entry.sending->size() - entry.sent;

	if (!entry.connection)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!rest) {
		entry.waiting = true;
		MHD_suspend_connection(entry.connection);
		return 0;
	}
	capacity = std::min(capacity, rest);
	entry.sending->copy(buffer, capacity, entry.sent);
	entry.sent += capacity;
	return ssize_t(capacity);
}

void stream_list::free(void *cls)
{
	auto *context = static_cast<handle *>(cls);

	context->list->erase(context->entry);
	delete context;
}

size_t stream_list::size() const
{
	return size_t(std::count_if(
		streams_.begin(), streams_.end(),
		[](const stream &entry) { return entry.connection; }));
}

void stream_list::end(stream &entry)
{
	if (client *peer = client_list::find(entry.connection))
		client_list::end(*peer);
	// The library does not notice the shutdown of a suspended connection.
	if (entry.waiting)
		MHD_resume_connection(entry.connection);
	entry.waiting = false;
	entry.connection = nullptr;
}

/// Check whether the client of each stream has closed its connection.  The library does
/// not notice a close while a connection is suspended; without the check the stream would
/// stay until the next message.
bool stream_list::has_room()
{
	char byte;

	for (stream &entry : streams_) {
		const client *peer = client_list::find(entry.connection);

		if (!peer)
			continue;

		const ssize_t received =
			recv(peer->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

		if (!received ||
		    (received < 0 && errno != EAGAIN && errno != EINTR))
			end(entry);
	}
	return size() < most_streams;
}

MHD_Response *stream_list::begin(MHD_Connection *connection, message first)
{
	auto *context = new handle{&streams_, {}};

	streams_.push_back(
		{connection, std::move(first), 0, clock::now(), false});
	context->entry = std::prev(streams_.end());

	MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, 4096, read, context, free);

	if (!response) {
		free(context);
		return nullptr;
	}
	if (client *peer = client_list::find(connection)) {
		peer->streams = true;
		setsockopt(peer->fd, SOL_SOCKET, SO_SNDBUF, &stream_buffer,
			   sizeof(stream_buffer));
	}
	return response;
}

void stream_list::publish(const message &next)
{
	const auto now = clock::now();

	for (stream &entry : streams_) {
		if (!entry.connection)
			continue;
		if (entry.waiting) {
			entry.sending = next;
			entry.sent = 0;
			entry.since = now;
			entry.waiting = false;
			MHD_resume_connection(entry.connection);
			continue;
		}
		if (now - entry.since >= message_time)
			end(entry);
	}
}

void stream_list::close(MHD_Connection *connection)
{
	for (stream &entry : streams_)
		if (entry.connection == connection)
			entry.connection = nullptr;
}

void stream_list::resume_all()
{
	for (const stream &entry : streams_)
		if (entry.connection && entry.waiting)
			MHD_resume_connection(entry.connection);
}

} // namespace cli
