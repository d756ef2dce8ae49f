// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/site.hpp"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "exporter/die_map.hpp"
#include "output/document.hpp"
#include "serve/web_files.hpp"
#include "terminal/text.hpp"

namespace cli {

namespace {

using std::chrono::milliseconds;
using text = std::shared_ptr<const std::string>;

/// Age up to which the numbers of a read are used for further requests, so that the number
/// of reads does not grow with the number of clients.
constexpr milliseconds shared_time{50};
/// Time between two messages of an event stream.
constexpr milliseconds publish_time{1000};
/// Shortest time between two verdicts on sockets: they use the counts of this time.
constexpr milliseconds judge_time{500};

text shared_text(std::string content)
{
	return std::make_shared<const std::string>(std::move(content));
}

http_reply plain(unsigned status, std::string_view content)
{
	return {status, "text/plain; charset=utf-8",
		shared_text(printable(content) + '\n')};
}

http_reply json_of(text body)
{
	return {200, "application/json", std::move(body)};
}

/// Tell whether a path is for liveness probes, which only ask whether the process answers.
/// A restart does not help if counters cannot be opened, so only /readyz reports this.
bool is_health(std::string_view path)
{
	return path == "/livez" || path == "/healthz";
}

/// Return a file of the page; nothing for any other path.
std::optional<http_reply> page_file(std::string_view path)
{
	static const auto files = [] {
		std::map<std::string_view, http_reply> replies;

		for (const web_file &file : web_files())
			replies[file.path] = {
				200, std::string(file.type),
				shared_text(std::string(file.content))};
		return replies;
	}();
	const auto entry = files.find(path);

	if (entry == files.end())
		return std::nullopt;
	return entry->second;
}

} // namespace

void site::refresh()
{
	const auto now = clock::now();

	if (!families_.empty() && now - read_at_ < shared_time)
		return;
	families_ = counters_.read();
	read_at_ = clock::now();
	rendered_.clear();
	snapshot_ = message_ = nullptr;
}

site::text site::metrics(exposition form)
{
	refresh();

	text &rendered = rendered_[form];

	if (!rendered)
		rendered = shared_text(
			render(families_, form, counters_.machine()));
	return rendered;
}

site::text site::topology() const
{
	return shared_text(dump(describe(counters_), -1) + "\n");
}

/// Return the snapshot as an event of a stream.
const site::text &site::message()
{
	refresh();
	if (!message_) {
		if (read_at_ - judged_at_ >= judge_time) {
			uses_.take(counters_);
			judged_at_ = read_at_;
		}
		snapshot_ = shared_text(
			dump(snapshot(counters_, uses_, read_at_), -1) + "\n");
		message_ = shared_text(fmt::format("data: {}\n", *snapshot_));
	}
	return message_;
}

std::optional<site::clock::time_point>
site::deadline(const http_server &server) const
{
	if (!server.streams())
		return std::nullopt;
	return published_ + publish_time;
}

void site::publish(http_server &server)
{
	const auto due = deadline(server);

	if (!due || clock::now() < *due)
		return;
	published_ = clock::now();
	server.publish(message());
}

http_reply site::answer(const http_request &request)
{
	if (request.path == "/metrics") {
		const exposition form = choose_form(request.accept);

		return {200, content_type(form), metrics(form)};
	}
	if (request.path == "/json")
		return json_of(metrics(exposition::json));
	if (request.path == "/api/topology") {
		refresh();
		return json_of(topology());
	}
	if (request.path == "/api/snapshot") {
		message();
		return json_of(snapshot_);
	}
	if (request.path == "/events")
		return {200, "text/event-stream", message(), nullptr, true};
	if (request.path == "/readyz")
		return counters_.ready()
			       ? plain(200, counters_.problem().empty()
						    ? "ok"
						    : counters_.problem())
			       : plain(503, counters_.problem());
	if (is_health(request.path))
		return plain(200, "ok");
	if (auto file = page_file(request.path))
		return *std::move(file);
	return plain(
		404,
		"there are /, /metrics, /json, /events, /api/topology, /api/snapshot, /livez and /readyz");
}

replay_site::replay_site(recording replayed)
	: recording_(std::move(replayed)),
	  topology_(shared_text(recording_.topology()))
{
}

/// Answer with the range of "?from=INDEX&step=N&count=N"; without arguments,
/// with the range that a page can hold.
http_reply replay_site::snapshots(const http_request &request) const
{
	recording::part range = recording_.usual();
	const std::pair<const char *, size_t *> numbers[] = {
		{"from", &range.from},
		{"step", &range.step},
		{"count", &range.count}};
	bool has_range = false;

	for (const auto &[name, number] : numbers)
		has_range |=
			request.argument && !request.argument(name).empty();
	if (has_range)
		range = {};
	for (const auto &[name, number] : numbers) {
		const std::string_view text =
			has_range ? request.argument(name) : std::string_view();
		const char *end = text.data() + text.size();

		if (text.empty())
			continue;
		if (const auto parsed =
			    std::from_chars(text.data(), end, *number);
		    parsed.ec != std::errc() || parsed.ptr != end)
			return plain(400,
				     fmt::format("{}: not a number", name));
	}
	return {200, "application/x-ndjson", nullptr,
		recording_.snapshots(range)};
}

http_reply replay_site::answer(const http_request &request) const
{
	if (request.path == "/api/topology")
		return json_of(topology_);
	if (request.path == "/api/recording")
		return snapshots(request);
	if (is_health(request.path) || request.path == "/readyz")
		return plain(200, "ok");
	if (auto file = page_file(request.path))
		return *std::move(file);
	return plain(
		404,
		"there are /, /api/topology, /api/recording, /livez and /readyz");
}

} // namespace cli
