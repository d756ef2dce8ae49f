// SPDX-License-Identifier: GPL-2.0-or-later
#include "http/streams.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>

#include "http/clients.hpp"

namespace cli {

namespace {

/// They last, so that a few clients could take all connections for good.
constexpr size_t most_streams = 32;
/// In which a message has to be taken, and what the kernel may hold of them for
/// a client that does not.
constexpr std::chrono::seconds message_time{10};
constexpr int stream_buffer = 16 * 1024;

} // namespace

/// Takes what there is to send, and waits when there is nothing.
ssize_t stream_list::read(void *cls, uint64_t, char *to, size_t most)
{
	stream &one = *static_cast<handle *>(cls)->one;
	const size_t rest = one.sending->size() - one.sent;

	if (!one.connection)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!rest) {
		one.waiting = true;
		MHD_suspend_connection(one.connection);
		return 0;
	}
	most = std::min(most, rest);
	one.sending->copy(to, most, one.sent);
	one.sent += most;
	return ssize_t(most);
}

void stream_list::free(void *cls)
{
	auto *its = static_cast<handle *>(cls);

	its->all->erase(its->one);
	delete its;
}

size_t stream_list::size() const
{
	return size_t(
		std::count_if(all_.begin(), all_.end(), [](const stream &one) {
			return one.connection;
		}));
}

void stream_list::end(stream &one)
{
	if (client *known = client_list::of(one.connection))
		client_list::end(*known);
	// The library looks at no connection that is suspended.
	if (one.waiting)
		MHD_resume_connection(one.connection);
	one.waiting = false;
	one.connection = nullptr;
}

/// Clients that have hung up are noticed when something is sent to them, a
/// second later; until then they would keep others out.
bool stream_list::has_room()
{
	char byte;

	for (stream &one : all_) {
		const client *known = client_list::of(one.connection);

		if (!known)
			continue;

		const ssize_t got =
			recv(known->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

		if (!got || (got < 0 && errno != EAGAIN && errno != EINTR))
			end(one);
	}
	return size() < most_streams;
}

MHD_Response *stream_list::begin(MHD_Connection *to, message first)
{
	auto *its = new handle{&all_, {}};

	all_.push_back({to, std::move(first), 0, clock::now(), false});
	its->one = std::prev(all_.end());

	MHD_Response *made = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, 4096, read, its, free);

	if (!made) {
		free(its);
		return nullptr;
	}
	if (client *known = client_list::of(to)) {
		known->streams = true;
		setsockopt(known->fd, SOL_SOCKET, SO_SNDBUF, &stream_buffer,
			   sizeof(stream_buffer));
	}
	return made;
}

void stream_list::publish(const message &next)
{
	const auto now = clock::now();

	for (stream &one : all_) {
		if (!one.connection)
			continue;
		if (one.waiting) {
			one.sending = next;
			one.sent = 0;
			one.since = now;
			one.waiting = false;
			MHD_resume_connection(one.connection);
			continue;
		}
		if (now - one.since >= message_time)
			end(one);
	}
}

void stream_list::close(MHD_Connection *connection)
{
	for (stream &one : all_)
		if (one.connection == connection)
			one.connection = nullptr;
}

void stream_list::resume_all()
{
	for (const stream &one : all_)
		if (one.connection && one.waiting)
			MHD_resume_connection(one.connection);
}

} // namespace cli
