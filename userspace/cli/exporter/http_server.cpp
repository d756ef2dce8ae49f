// SPDX-License-Identifier: GPL-2.0-or-later
// HTTP by libmicrohttpd.  Whoever can reach the port may send anything: how
// many connections there are, how much memory each takes and how long it may
// take for a request are all bounded.
#include "exporter/http_server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <list>
#include <netdb.h>
#include <sys/socket.h>
#include <vector>

#include <fmt/format.h>
#include <microhttpd.h>

#include "common/unique_fd.hpp"

namespace cli {

using clock = std::chrono::steady_clock;
using uncore::errc;

namespace {

/// Further ones wait in the socket's queue until others have gone; more of one
/// address are turned away, so that no single one takes all.
constexpr unsigned most_connections = 512, most_of_an_address = 384;
/// For a request's line and headers, and for the answer's headers.
constexpr size_t connection_memory = 16 * 1024;
/// In which a request has to come and its answer to be taken; also how long a
/// connection is kept without one.
constexpr std::chrono::seconds request_time{20};

/// Streams last, so that a few clients could take all connections for good.
constexpr size_t most_streams = 32;
/// In which a message of a stream has to be taken, and what the kernel may hold
/// of them for a client that does not.
constexpr std::chrono::seconds message_time{10};
constexpr int stream_buffer = 16 * 1024;

/// A connection, since when it waits for the end of a request.
struct client {
	int fd;
	clock::time_point since;
	bool ended = false;
	bool answered = false; ///< and takes the answer
	bool streams = false;  ///< has an answer without an end
};

/// An answer without an end: the message that is being sent.
struct stream {
	/// nullptr when it has gone.
	MHD_Connection *connection;
	std::shared_ptr<const std::string> message;
	size_t sent;
	clock::time_point since; ///< when there was something to send
	bool waiting;		 ///< for the next; suspended then
};

struct daemon_closer {
	void operator()(MHD_Daemon *daemon) const { MHD_stop_daemon(daemon); }
};

struct addresses_closer {
	void operator()(addrinfo *list) const { freeaddrinfo(list); }
};

using addresses = std::unique_ptr<addrinfo, addresses_closer>;

uncore::error failed(const std::string &what, int number)
{
	return {errc::system, fmt::format("{}: {}", what, strerror(number))};
}

uncore::error no_address(const std::string &text, const char *why)
{
	return {errc::invalid,
		fmt::format("--listen {}: {}; write ADDRESS:PORT, such as "
			    "127.0.0.1:10331 or [::1]:10331",
			    text, why)};
}

/// A numeric address and a port.
uncore::result<addresses> resolve(const std::string &text)
{
	const size_t colon = text.rfind(':');
	std::string host = text.substr(0, colon);
	addrinfo hints{}, *found = nullptr;

	if (colon == text.npos || !colon)
		return no_address(text, "no address and port");

	const std::string port = text.substr(colon + 1);
	const bool is_number =
		!port.empty() && port.size() <= 5 &&
		port.find_first_not_of("0123456789") == port.npos;

	if (!is_number || std::stoul(port) > UINT16_MAX)
		return no_address(text, "no port of 0 to 65535");
	if (host.front() == '[' && host.back() == ']')
		host = host.substr(1, host.size() - 2);
	else if (host.find(':') != host.npos)
		return no_address(text, "an IPv6 address is in brackets");
	hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
	hints.ai_socktype = SOCK_STREAM;
	if (int err = getaddrinfo(host.c_str(), port.c_str(), &hints, &found))
		return no_address(text, gai_strerror(err));
	return addresses(found);
}

uncore::result<unique_fd> listen_at(const addrinfo &where,
				    const std::string &text)
{
	unique_fd made(socket(where.ai_family,
			      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	const int yes = 1;

	if (!made)
		return failed(text, errno);
	setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (where.ai_family == AF_INET6)
		setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes,
			   sizeof(yes));
	if (!bind(made.get(), where.ai_addr, where.ai_addrlen) &&
	    !listen(made.get(), SOMAXCONN))
		return made;
	if (errno == EADDRINUSE)
		return uncore::error{
			errc::system,
			fmt::format("{}: another program listens there; choose "
				    "another port with --listen",
				    text)};
	return failed(text, errno);
}

/// "127.0.0.1:10331" of a socket, with the port that it got.
std::string name_of(int fd)
{
	sockaddr_storage bound{};
	socklen_t size = sizeof(bound);
	char host[NI_MAXHOST], port[NI_MAXSERV];
	auto *address = reinterpret_cast<sockaddr *>(&bound);

	if (getsockname(fd, address, &size) ||
	    getnameinfo(address, size, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return "?";
	if (bound.ss_family == AF_INET6)
		return fmt::format("[{}]:{}", host, port);
	return fmt::format("{}:{}", host, port);
}

uncore::result<std::string> read_file(const std::string &path)
{
	std::unique_ptr<FILE, int (*)(FILE *)> file(fopen(path.c_str(), "re"),
						    fclose);
	std::string text;
	char part[4096];

	if (!file)
		return failed(path, errno);
	while (size_t n = fread(part, 1, sizeof(part), file.get()))
		text.append(part, n);
	if (ferror(file.get()))
		return failed(path, errno);
	return text;
}

/// What the library has to say goes into a string, its last line counts.
void log_to(void *cls, const char *format, va_list arguments)
{
	char line[256];

	vsnprintf(line, sizeof(line), format, arguments);
	*static_cast<std::string *>(cls) = line;
}

} // namespace

struct http_server::state {
	handler answer;
	std::string log, certificate, key, url;
	std::list<client> clients; ///< who waits longest first
	std::list<stream> streams;
	std::unique_ptr<MHD_Daemon, daemon_closer> daemon;

	~state();
	uncore::result<void> start(unique_fd socket);
	MHD_Result reply(MHD_Connection *to, http_reply with);
	MHD_Response *respond(MHD_Connection *to, const http_reply &with);
	MHD_Response *begin_stream(MHD_Connection *to, const http_reply &with);
	size_t live_streams() const;
	MHD_Result take(MHD_Connection *from, const char *path,
			const char *method, size_t *body, void **request);
	void end_slow();
	void end_gone();
	void end_stream_of(stream &one);
	void end_gone_streams();

	static MHD_Result on_request(void *cls, MHD_Connection *connection,
				     const char *path, const char *method,
				     const char *version, const char *body,
				     size_t *size, void **request);
	static void on_connection(void *cls, MHD_Connection *connection,
				  void **context,
				  MHD_ConnectionNotificationCode what);
	static void on_completed(void *cls, MHD_Connection *connection,
				 void **request,
				 MHD_RequestTerminationCode how);
};

/// Whose connection it is, or nullptr.
static std::list<client>::iterator *client_of(MHD_Connection *connection)
{
	const auto *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? static_cast<std::list<client>::iterator *>(
			      info->socket_context)
		    : nullptr;
}

void http_server::state::on_connection(void *cls, MHD_Connection *connection,
				       void **context,
				       MHD_ConnectionNotificationCode what)
{
	using place = std::list<client>::iterator;
	auto *self = static_cast<state *>(cls);
	auto *known = static_cast<place *>(*context);

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const auto *info = MHD_get_connection_info(
			connection, MHD_CONNECTION_INFO_CONNECTION_FD);

		self->clients.push_back({info->connect_fd, clock::now()});
		*context = new place(std::prev(self->clients.end()));
	} else if (known) {
		self->clients.erase(*known);
		delete known;
		*context = nullptr;
	}
}

void http_server::state::on_completed(void *cls, MHD_Connection *connection,
				      void **, MHD_RequestTerminationCode)
{
	auto *self = static_cast<state *>(cls);
	const auto *known = client_of(connection);

	for (stream &one : self->streams)
		if (one.connection == connection)
			one.connection = nullptr;
	if (!known)
		return;

	const auto who = *known;

	who->since = clock::now();
	who->answered = who->streams = false;
	self->clients.splice(self->clients.end(), self->clients, who);
}

/// Whose end of the stream it is.
struct stream_handle {
	std::list<stream> *all;
	std::list<stream>::iterator one;
};

/// Takes what there is to send, and waits when there is nothing.
static ssize_t read_stream(void *cls, uint64_t, char *to, size_t most)
{
	stream &one = *static_cast<stream_handle *>(cls)->one;
	const size_t left = one.message->size() - one.sent;

	if (!one.connection)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!left) {
		one.waiting = true;
		MHD_suspend_connection(one.connection);
		return 0;
	}
	most = std::min(most, left);
	one.message->copy(to, most, one.sent);
	one.sent += most;
	return ssize_t(most);
}

static void end_stream(void *cls)
{
	auto *handle = static_cast<stream_handle *>(cls);

	handle->all->erase(handle->one);
	delete handle;
}

size_t http_server::state::live_streams() const
{
	return size_t(std::count_if(
		streams.begin(), streams.end(),
		[](const stream &one) { return one.connection; }));
}

void http_server::state::end_stream_of(stream &one)
{
	const auto *known = client_of(one.connection);

	if (known && !(*known)->ended) {
		shutdown((*known)->fd, SHUT_RDWR);
		(*known)->ended = true;
	}
	// The library looks at no connection that is suspended.
	if (one.waiting)
		MHD_resume_connection(one.connection);
	one.waiting = false;
	one.connection = nullptr;
}

/// Clients that have hung up are noticed when something is sent to them, a
/// second later; until then they would keep others out.
void http_server::state::end_gone_streams()
{
	char byte;

	for (stream &one : streams) {
		const auto *known =
			one.connection ? client_of(one.connection) : nullptr;

		if (!known)
			continue;

		const ssize_t got =
			recv((*known)->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

		if (!got || (got < 0 && errno != EAGAIN && errno != EINTR))
			end_stream_of(one);
	}
}

MHD_Response *http_server::state::begin_stream(MHD_Connection *to,
					       const http_reply &with)
{
	auto *handle = new stream_handle{&streams, {}};

	streams.push_back({to, with.body, 0, clock::now(), false});
	handle->one = std::prev(streams.end());

	MHD_Response *made = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, 4096, read_stream, handle, end_stream);

	if (!made) {
		end_stream(handle);
		return nullptr;
	}
	if (const auto *known = client_of(to)) {
		(*known)->streams = true;
		setsockopt((*known)->fd, SOL_SOCKET, SO_SNDBUF, &stream_buffer,
			   sizeof(stream_buffer));
	}
	return made;
}

MHD_Response *http_server::state::respond(MHD_Connection *to,
					  const http_reply &with)
{
	using held = std::shared_ptr<const std::string>;

	if (with.stream)
		return begin_stream(to, with);

	auto *body = new held(with.body);
	MHD_Response *made =
		MHD_create_response_from_buffer_with_free_callback_cls(
			(*body)->size(), const_cast<char *>((*body)->data()),
			[](void *cls) { delete static_cast<held *>(cls); },
			body);

	if (!made)
		delete body;
	return made;
}

MHD_Result http_server::state::reply(MHD_Connection *to, http_reply with)
{
	static const auto enough = std::make_shared<const std::string>(
		fmt::format("too many event streams: at most {} at a time\n",
			    most_streams));

	if (with.stream)
		end_gone_streams();
	if (with.stream && live_streams() >= most_streams)
		with = {MHD_HTTP_SERVICE_UNAVAILABLE,
			"text/plain; charset=utf-8", enough};

	MHD_Response *made = respond(to, with);

	if (!made)
		return MHD_NO;

	auto add = [made](const char *name, const char *value) {
		MHD_add_response_header(made, name, value);
	};

	add(MHD_HTTP_HEADER_CONTENT_TYPE, with.type.c_str());
	add(MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	add(MHD_HTTP_HEADER_VARY, "Accept");
	add("X-Content-Type-Options", "nosniff");
	add("Referrer-Policy", "no-referrer");
	add("Cross-Origin-Resource-Policy", "same-origin");
	// Scripts and styles are files of this server, never part of a page.
	add("Content-Security-Policy",
	    "default-src 'none'; script-src 'self'; style-src 'self'; "
	    "connect-src 'self'; img-src data:; base-uri 'none'; "
	    "form-action 'none'; frame-ancestors 'none'");
	if (with.status == MHD_HTTP_METHOD_NOT_ALLOWED)
		add(MHD_HTTP_HEADER_ALLOW, "GET, HEAD");

	if (const auto *known = client_of(to))
		(*known)->answered = true;

	const MHD_Result queued = MHD_queue_response(to, with.status, made);

	MHD_destroy_response(made);
	return queued;
}

MHD_Result http_server::state::take(MHD_Connection *from, const char *path,
				    const char *method, size_t *body,
				    void **request)
{
	static char seen;
	static const auto no_such_method =
		std::make_shared<const std::string>("GET and HEAD only\n");

	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return reply(from,
			     {MHD_HTTP_METHOD_NOT_ALLOWED,
			      "text/plain; charset=utf-8", no_such_method});
	// The headers are there; then what follows them, which nobody reads.
	if (!*request) {
		*request = &seen;
		return MHD_YES;
	}
	if (*body) {
		*body = 0;
		return MHD_YES;
	}

	const char *accept = MHD_lookup_connection_value(
		from, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);

	return reply(from, answer({path, accept ? accept : ""}));
}

MHD_Result http_server::state::on_request(void *cls, MHD_Connection *connection,
					  const char *path, const char *method,
					  const char *, const char *,
					  size_t *size, void **request)
{
	// No exception may pass the library, which is in C.
	try {
		return static_cast<state *>(cls)->take(connection, path, method,
						       size, request);
	} catch (const std::exception &) {
		return MHD_NO;
	}
}

/// The library's own limit is for silence: a byte now and then would do.
void http_server::state::end_slow()
{
	const auto now = clock::now();

	for (client &one : clients) {
		if (one.streams)
			continue; // publish() looks after these
		if (now - one.since < request_time)
			break;
		if (!one.ended)
			shutdown(one.fd, SHUT_RDWR);
		one.ended = true;
	}
}

/// The library is told of news once.  Of a request and its client's end at
/// once it takes in the first alone, and would keep the connection.
void http_server::state::end_gone()
{
	char byte;

	for (client &one : clients) {
		if (one.ended || one.answered ||
		    recv(one.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
			continue;
		shutdown(one.fd, SHUT_RDWR);
		one.ended = true;
	}
}

/// The library does not stop while connections are suspended.
http_server::state::~state()
{
	for (const stream &one : streams)
		if (one.connection && one.waiting)
			MHD_resume_connection(one.connection);
	daemon.reset();
}

uncore::result<void> http_server::state::start(unique_fd socket)
{
	std::vector<MHD_OptionItem> tls;
	const bool secure = !certificate.empty();

	if (secure)
		tls = {{MHD_OPTION_HTTPS_MEM_CERT, 0, certificate.data()},
		       {MHD_OPTION_HTTPS_MEM_KEY, 0, key.data()},
		       {MHD_OPTION_HTTPS_PRIORITIES, 0,
			const_cast<char *>("NORMAL:-VERS-ALL:+VERS-TLS1.3:"
					   "+VERS-TLS1.2")}};
	tls.push_back({MHD_OPTION_END, 0, nullptr});
	url = fmt::format("{}://{}", secure ? "https" : "http",
			  name_of(socket.get()));
	daemon.reset(MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME |
			(secure ? MHD_USE_TLS : 0),
		0, nullptr, nullptr, on_request, this,
		MHD_OPTION_EXTERNAL_LOGGER, log_to, &log,
		MHD_OPTION_LISTEN_SOCKET, socket.get(),
		MHD_OPTION_CONNECTION_LIMIT, most_connections,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, most_of_an_address,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
		MHD_OPTION_CONNECTION_TIMEOUT, unsigned(request_time.count()),
		MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, this,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, this,
		MHD_OPTION_ARRAY, tls.data(), MHD_OPTION_END));
	if (!daemon)
		return uncore::error{
			errc::system,
			secure ? fmt::format("the certificate and the key "
					     "cannot be used: {}",
					     log)
			       : fmt::format("no HTTP: {}", log)};
	socket.release(); // the library closes it
	return {};
}

http_server::http_server(std::unique_ptr<state> made) : state_(std::move(made))
{
}
http_server::http_server(http_server &&) noexcept = default;
http_server::~http_server() = default;

uncore::result<http_server> http_server::start(const http_options &options,
					       handler answer)
{
	auto made = std::make_unique<state>();
	const auto where = resolve(options.listen);

	if (!where)
		return where.error();
	made->answer = std::move(answer);
	for (const auto &[path, text] :
	     {std::pair(&options.certificate, &made->certificate),
	      std::pair(&options.key, &made->key)}) {
		if (path->empty())
			continue;

		auto content = read_file(*path);

		if (!content)
			return content.error();
		*text = *std::move(content);
	}

	auto socket = listen_at(**where, options.listen);

	if (!socket)
		return socket.error();
	if (auto started = made->start(*std::move(socket)); !started)
		return started.error();
	return http_server(std::move(made));
}

std::string http_server::url() const
{
	return state_->url;
}

int http_server::fd() const
{
	return MHD_get_daemon_info(state_->daemon.get(),
				   MHD_DAEMON_INFO_EPOLL_FD)
		->epoll_fd;
}

std::optional<clock::time_point> http_server::deadline() const
{
	constexpr MHD_UNSIGNED_LONG_LONG day = 24 * 3600 * 1000;
	std::optional<clock::time_point> first;
	MHD_UNSIGNED_LONG_LONG library = 0;

	if (MHD_get_timeout(state_->daemon.get(), &library) == MHD_YES)
		first = clock::now() +
			std::chrono::milliseconds(std::min(library, day));
	// in the order in which they came
	for (const client &one : state_->clients)
		if (!one.ended && !one.streams) {
			const auto until = one.since + request_time;

			return std::min(first.value_or(until), until);
		}
	return first;
}

void http_server::publish(const std::shared_ptr<const std::string> &message)
{
	const auto now = clock::now();

	for (stream &one : state_->streams) {
		if (!one.connection)
			continue;
		if (one.waiting) {
			one.message = message;
			one.sent = 0;
			one.since = now;
			one.waiting = false;
			MHD_resume_connection(one.connection);
			continue;
		}

		if (now - one.since >= message_time)
			state_->end_stream_of(one);
	}
}

size_t http_server::streams() const
{
	return state_->live_streams();
}

void http_server::run()
{
	state_->end_slow();
	MHD_run(state_->daemon.get());
	state_->end_gone();
}

} // namespace cli
