// SPDX-License-Identifier: GPL-2.0-or-later
// The HTTP server, with libmicrohttpd ("the library").  Clients are not trusted: the
// number of connections, the memory of each and the time for a request are limited.
#include "http/server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/epoll.h>

#include <fmt/format.h>
#include <microhttpd.h>

#include "http/clients.hpp"
#include "http/host_names.hpp"
#include "http/listeners.hpp"
#include "http/streams.hpp"
#include "process/unique_fd.hpp"

namespace cli {

using clock = std::chrono::steady_clock;
using uncore::errc;

namespace {

/// Limit of connections.  Beyond the limit, an old connection is ended for each new
/// connection (client_list::give_way()).
constexpr size_t most_connections = 512;
/// Bytes for a request's line and headers, and for the answer's headers.
constexpr size_t connection_memory = 16 * 1024;
/// Size from which a body is sent in parts.  Each part restarts the client's waiting
/// time, so that a slow client that makes progress is not disconnected.
constexpr size_t large_body = 256 * 1024;
/// Pause before the next accept() after descriptors have run out, or if no connection
/// could be ended.
constexpr std::chrono::milliseconds accept_pause{100};

struct daemon_closer {
	void operator()(MHD_Daemon *daemon) const { MHD_stop_daemon(daemon); }
};

/// Callback for messages of the library.  Keep the last message in a string.
void log_to(void *cls, const char *format, va_list arguments)
{
	char line[256];

	vsnprintf(line, sizeof(line), format, arguments);
	*static_cast<std::string *>(cls) = line;
}

http_reply text_reply(unsigned status, std::string text)
{
	return {status, "text/plain; charset=utf-8",
		std::make_shared<const std::string>(std::move(text))};
}

/// Source of an answer whose text exists already.
class body_source : public http_source {
public:
	explicit body_source(std::shared_ptr<const std::string> body)
		: body_(std::move(body))
	{
	}
	ssize_t read(char *buffer, size_t capacity) override
	{
		const size_t n = body_->copy(buffer, capacity, sent_);

		sent_ += n;
		return ssize_t(n);
	}

private:
	std::shared_ptr<const std::string> body_;
	size_t sent_ = 0;
};

} // namespace

struct http_server::state {
	state(tls_watch files, listeners bound, host_names names)
		: tls(std::move(files)), sockets(std::move(bound)),
		  hosts(std::move(names))
	{
	}
	~state();

	handler answer;
	tls_watch tls;
	listeners sockets;
	host_names hosts;
	std::string log;
	std::vector<std::string> urls;
	client_list clients;
	stream_list streams;
	unique_fd epoll;
	/// Second server, for the listeners of http_options::listen_health.
	std::optional<http_server> health;
	/// End of a pause in accepting connections.
	std::optional<clock::time_point> paused;
	std::unique_ptr<MHD_Daemon, daemon_closer> daemon;

	uncore::result<void> start();
	uncore::result<void> watch();
	void listen(bool enabled);
	void accept();
	bool make_room();
	MHD_Result reply(MHD_Connection *connection, http_reply message);
	MHD_Response *respond(MHD_Connection *connection,
			      const http_reply &message);
	std::optional<http_reply> refuse(MHD_Connection *connection);
	MHD_Result take(MHD_Connection *connection, const char *path,
			const char *method, size_t *body, void **request);

	static MHD_Result on_request(void *cls, MHD_Connection *connection,
				     const char *path, const char *method,
				     const char *version, const char *body,
				     size_t *size, void **request);
	static void on_connection(void *cls, MHD_Connection *connection,
				  void **context,
				  MHD_ConnectionNotificationCode code);
	static void on_completed(void *cls, MHD_Connection *connection,
				 void **request,
				 MHD_RequestTerminationCode code);
};

void http_server::state::on_connection(void *cls, MHD_Connection *connection,
				       void **context,
				       MHD_ConnectionNotificationCode code)
{
	auto *self = static_cast<state *>(cls);

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		self->clients.start(connection, context);
	else
		self->clients.close(context);
}

void http_server::state::on_completed(void *cls, MHD_Connection *connection,
				      void **, MHD_RequestTerminationCode)
{
	auto *self = static_cast<state *>(cls);

	self->streams.close(connection);
	if (client *peer = client_list::find(connection)) {
		peer->answered = peer->streams = false;
		self->clients.waits_anew(connection);
	}
}

// --- answers

namespace {

/// Argument of the library's callbacks for an answer from a source.
struct source_handle {
	std::shared_ptr<http_source> source;
	client_list *clients;
	MHD_Connection *connection;
};

ssize_t read_source(void *cls, uint64_t, char *buffer, size_t capacity)
{
	auto *handle = static_cast<source_handle *>(cls);

	try {
		const ssize_t n = handle->source->read(buffer, capacity);

		handle->clients->waits_anew(handle->connection);
		return n > 0   ? n
		       : n < 0 ? MHD_CONTENT_READER_END_WITH_ERROR
			       : MHD_CONTENT_READER_END_OF_STREAM;
	} catch (const std::exception &) {
		return MHD_CONTENT_READER_END_WITH_ERROR;
	}
}

void free_source(void *cls)
{
	delete static_cast<source_handle *>(cls);
}

} // namespace

MHD_Response *http_server::state::respond(MHD_Connection *connection,
					  const http_reply &message)
{
	using shared_body = std::shared_ptr<const std::string>;

	if (message.stream)
		return streams.begin(connection, message.body);
	if (message.source || message.body->size() >= large_body) {
		auto *handle = new source_handle{
			message.source
				? message.source
				: std::make_shared<body_source>(message.body),
			&clients, connection};
		MHD_Response *response = MHD_create_response_from_callback(
			message.source ? MHD_SIZE_UNKNOWN
				       : message.body->size(),
			16 * 1024, read_source, handle, free_source);

		if (!response)
			free_source(handle);
		return response;
	}

	auto *body = new shared_body(message.body);
	MHD_Response *response =
		MHD_create_response_from_buffer_with_free_callback_cls(
			(*body)->size(), const_cast<char *>((*body)->data()),
			[](void *cls) {
				delete static_cast<shared_body *>(cls);
			},
			body);

	if (!response)
		delete body;
	return response;
}

MHD_Result http_server::state::reply(MHD_Connection *connection,
				     http_reply message)
{
	if (message.stream && !streams.has_room())
		message = text_reply(
			MHD_HTTP_SERVICE_UNAVAILABLE,
			fmt::format(
				"too many event streams: at most {} at a time\n",
				streams.size()));

	MHD_Response *response = respond(connection, message);

	if (!response)
		return MHD_NO;

	auto add = [response](const char *name, const char *value) {
		MHD_add_response_header(response, name, value);
	};

	add(MHD_HTTP_HEADER_CONTENT_TYPE, message.type.c_str());
	add(MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	add(MHD_HTTP_HEADER_VARY, "Accept");
	add("Referrer-Policy", "no-referrer");
	add("Cross-Origin-Resource-Policy", "same-origin");
	add("X-Content-Type-Options", "nosniff");
	// Scripts and styles are files of this server, never part of a page.
	add("Content-Security-Policy",
	    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
	// Proxies such as nginx must not buffer the answer.
	if (message.stream || message.source)
		add("X-Accel-Buffering", "no");
	if (message.status == MHD_HTTP_METHOD_NOT_ALLOWED)
		add(MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (message.status == MHD_HTTP_SERVICE_UNAVAILABLE)
		add(MHD_HTTP_HEADER_RETRY_AFTER, "1");
	if (client *peer = client_list::find(connection))
		peer->answered = true;

	const MHD_Result queued =
		MHD_queue_response(connection, message.status, response);

	MHD_destroy_response(response);
	return queued;
}

/// Refuse a request for another host name to a listener that only this machine reaches.
std::optional<http_reply> http_server::state::refuse(MHD_Connection *connection)
{
	const char *host = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	const client *peer = client_list::find(connection);

	if (peer && peer->loopback && host && !hosts.allows(host))
		return text_reply(
			MHD_HTTP_FORBIDDEN,
			"the Host header has no name of this machine: use localhost, or allow the name with --allow-host\n");
	return std::nullopt;
}

MHD_Result http_server::state::take(MHD_Connection *connection,
				    const char *path, const char *method,
				    size_t *body, void **request)
{
	static char seen;

	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return reply(connection, text_reply(MHD_HTTP_METHOD_NOT_ALLOWED,
						    "GET and HEAD only\n"));
	// The library calls with the headers, then with each part of the body,
	// which is ignored, and at last with an empty part: time to answer.
	if (!*request) {
		*request = &seen;
		return MHD_YES;
	}
	if (*body) {
		*body = 0;
		return MHD_YES;
	}
	if (auto refused = refuse(connection))
		return reply(connection, *std::move(refused));

	const char *accept = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	const auto argument =
		[connection](const char *name) -> std::string_view {
		const char *value = MHD_lookup_connection_value(
			connection, MHD_GET_ARGUMENT_KIND, name);

		return value ? value : "";
	};

	return reply(connection,
		     answer({path, accept ? accept : "", argument}));
}

MHD_Result http_server::state::on_request(void *cls, MHD_Connection *connection,
					  const char *path, const char *method,
					  const char *, const char *,
					  size_t *size, void **request)
{
	// An exception must not pass through the functions of the library, which
	// are in C.
	try {
		return static_cast<state *>(cls)->take(connection, path, method,
						       size, request);
	} catch (const std::exception &) {
		return MHD_NO;
	}
}

// --- connections

/// Make room for a connection, by ending another connection if necessary.
/// @return whether there is room.
bool http_server::state::make_room()
{
	if (clients.size() < most_connections)
		return true;
	if (!clients.give_way())
		return false;
	MHD_run(daemon.get());
	return clients.size() < most_connections;
}

/// Accept waiting connections while there is room or can be made.
void http_server::state::accept()
{
	const auto now = clock::now();

	if (paused && now < *paused)
		return;
	if (paused)
		listen(true);
	paused.reset();
	// Accept a limited number, so that connected clients are answered before
	// the next call.
	for (size_t i = 0; i < most_connections; i++) {
		bool failed = false;

		if (!make_room()) {
			failed = true;
		} else if (auto connection = sockets.accept(failed)) {
			const int fd = connection->socket.release();

			clients.expect(fd, connection->loopback);
			// The library closes the socket of a connection that it
			// rejects.
			if (MHD_add_connection(daemon.get(), fd,
					       reinterpret_cast<sockaddr *>(
						       &connection->address),
					       connection->size) != MHD_YES)
				clients.forget(fd);
			MHD_run(daemon.get());
			continue;
		}
		if (failed) {
			clients.give_way();
			listen(false);
			paused = now + accept_pause;
		}
		return;
	}
}

/// Enable or disable polling for connections.
void http_server::state::listen(bool enabled)
{
	for (const int fd : sockets.fds()) {
		epoll_event event{};

		event.events = enabled ? uint32_t(EPOLLIN) : 0;
		epoll_ctl(epoll.get(), EPOLL_CTL_MOD, fd, &event);
	}
}

http_server::state::~state()
{
	streams.resume_all();
	daemon.reset();
}

/// Create the descriptor to poll for events of all listeners, of the library and of the
/// second server.
uncore::result<void> http_server::state::watch()
{
	const MHD_DaemonInfo *info =
		MHD_get_daemon_info(daemon.get(), MHD_DAEMON_INFO_EPOLL_FD);
	std::vector<int> descriptors = sockets.fds();
	epoll_event event{};

	epoll = unique_fd(epoll_create1(EPOLL_CLOEXEC));
	descriptors.push_back(info ? info->epoll_fd : -1);
	if (health)
		descriptors.push_back(health->fd());
	event.events = EPOLLIN;
	for (const int fd : descriptors)
		if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event))
			return uncore::error{
				errc::system,
				fmt::format("epoll: {}", strerror(errno))};
	return {};
}

uncore::result<void> http_server::state::start()
{
	const bool secure = tls.secure();
	std::vector<MHD_OptionItem> options;

	if (secure)
		options = {
			{MHD_OPTION_HTTPS_CERT_CALLBACK, 0,
			 identity_callback()},
			{MHD_OPTION_HTTPS_PRIORITIES, 0,
			 const_cast<char *>(
				 "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2")}};
	options.push_back({MHD_OPTION_END, 0, nullptr});
	for (const std::string &name : sockets.names())
		urls.push_back(name.starts_with("unix:")
				       ? name
				       : fmt::format("{}://{}",
						     secure ? "https" : "http",
						     name));
	daemon.reset(MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME |
			MHD_USE_NO_LISTEN_SOCKET | (secure ? MHD_USE_TLS : 0),
		0, nullptr, nullptr, on_request, this,
		MHD_OPTION_EXTERNAL_LOGGER, log_to, &log,
		MHD_OPTION_CONNECTION_LIMIT, unsigned(most_connections + 1),
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
		MHD_OPTION_CONNECTION_TIMEOUT, unsigned(request_time.count()),
		MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, this,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, this,
		MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END));
	if (!daemon)
		return uncore::error{errc::system,
				     fmt::format("no HTTP: {}", log)};
	return watch();
}

// --- the server

/// Tell whether the listeners of http_options::listen_health answer a path.
static bool is_probe(std::string_view path)
{
	return path == "/livez" || path == "/readyz" || path == "/healthz";
}

http_server::http_server(std::unique_ptr<state> prepared)
	: state_(std::move(prepared))
{
}
http_server::http_server(http_server &&) noexcept = default;
http_server::~http_server() = default;

uncore::result<http_server> http_server::open(const char *option,
					      const http_options &options,
					      handler answer,
					      std::optional<http_server> health)
{
	tls_watch files(options.tls);
	auto bound = listeners::open(option, options.listen);

	if (!bound)
		return bound.error();
	if (auto loaded = files.load(); !loaded)
		return uncore::error{errc::system, loaded.error().message};

	auto prepared = std::make_unique<state>(
		std::move(files), *std::move(bound), host_names(options.hosts));

	prepared->answer = std::move(answer);
	if (health)
		prepared->health.emplace(*std::move(health));
	if (auto started = prepared->start(); !started)
		return started.error();
	return http_server(std::move(prepared));
}

uncore::result<http_server> http_server::start(const http_options &options,
					       handler answer)
{
	if (options.listen_health.empty())
		return open("--listen", options, std::move(answer), {});

	auto health = open(
		"--listen-health",
		{options.listen_health, {}, options.hosts, {}},
		[answer](const http_request &request) {
			return is_probe(request.path)
				       ? answer(request)
				       : text_reply(
						 MHD_HTTP_NOT_FOUND,
						 "there are /livez and /readyz\n");
		},
		{});

	if (!health)
		return health.error();
	return open("--listen", options, std::move(answer), *std::move(health));
}

const std::vector<std::string> &http_server::urls() const
{
	return state_->urls;
}

int http_server::fd() const
{
	return state_->epoll.get();
}

std::optional<clock::time_point> http_server::deadline() const
{
	constexpr MHD_UNSIGNED_LONG_LONG day = 24 * 3600 * 1000;
	std::optional<clock::time_point> first = state_->clients.deadline();
	MHD_UNSIGNED_LONG_LONG library = 0;

	if (MHD_get_timeout(state_->daemon.get(), &library) == MHD_YES) {
		const auto due = clock::now() + std::chrono::milliseconds(
							std::min(library, day));

		first = std::min(first.value_or(due), due);
	}
	if (state_->paused)
		first = std::min(first.value_or(*state_->paused),
				 *state_->paused);
	if (state_->health)
		if (const auto due = state_->health->deadline())
			first = std::min(first.value_or(*due), *due);
	return first;
}

void http_server::publish(const std::shared_ptr<const std::string> &message)
{
	state_->streams.publish(message);
}

size_t http_server::streams() const
{
	return state_->streams.size();
}

void http_server::reload()
{
	state_->tls.reload(true);
}

void http_server::run()
{
	state_->tls.reload(false);
	state_->clients.end_slow();
	state_->accept();
	MHD_run(state_->daemon.get());
	state_->clients.end_closed();
	if (state_->health)
		state_->health->run();
}

} // namespace cli
