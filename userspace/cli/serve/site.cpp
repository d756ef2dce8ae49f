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

/// Reads that are asked for closer together than this are one: each is as old
/// as that at most, and their number does not grow with the clients.
constexpr milliseconds shared_time{50};
/// Between two messages of a stream.
constexpr milliseconds publish_time{1000};
/// What limits a socket is judged over this time at least.
constexpr milliseconds judge_time{500};

text made_of(std::string said)
{
	return std::make_shared<const std::string>(std::move(said));
}

http_reply plain(unsigned status, std::string_view said)
{
	return {status, "text/plain; charset=utf-8",
		made_of(printable(said) + '\n')};
}

http_reply json_of(text body)
{
	return {200, "application/json", std::move(body)};
}

/// Does the process answer?  Counters that cannot be opened do not
/// require a restart: /readyz has these.
bool is_health(std::string_view path)
{
	return path == "/livez" || path == "/healthz";
}

/// The page's files; nothing when it is none of them.
std::optional<http_reply> page_file(std::string_view path)
{
	static const auto files = [] {
		std::map<std::string_view, http_reply> all;

		for (const web_file &one : web_files())
			all[one.path] = {200, std::string(one.type),
					 made_of(std::string(one.content))};
		return all;
	}();
	const auto found = files.find(path);

	if (found == files.end())
		return std::nullopt;
	return found->second;
}

} // namespace

void site::refresh()
{
	const auto now = clock::now();

	if (!known_.empty() && now - read_at_ < shared_time)
		return;
	known_ = counters_.read();
	read_at_ = clock::now();
	rendered_.clear();
	snapshot_ = message_ = nullptr;
}

site::text site::metrics(exposition form)
{
	refresh();

	text &made = rendered_[form];

	if (!made)
		made = made_of(render(known_, form, counters_.machine()));
	return made;
}

site::text site::topology() const
{
	return made_of(dump(describe(counters_), -1) + "\n");
}

/// The snapshot as an event of a stream.
const site::text &site::message()
{
	refresh();
	if (!message_) {
		if (read_at_ - judged_at_ >= judge_time) {
			uses_.take(counters_);
			judged_at_ = read_at_;
		}
		snapshot_ = made_of(
			dump(snapshot(counters_, uses_, read_at_), -1) + "\n");
		message_ = made_of(fmt::format("data: {}\n", *snapshot_));
	}
	return message_;
}

std::optional<site::clock::time_point>
site::deadline(const http_server &of) const
{
	if (!of.streams())
		return std::nullopt;
	return published_ + publish_time;
}

void site::publish(http_server &to)
{
	const auto due = deadline(to);

	if (!due || clock::now() < *due)
		return;
	published_ = clock::now();
	to.publish(message());
}

http_reply site::answer(const http_request &to)
{
	if (to.path == "/metrics") {
		const exposition form = choose_form(to.accept);

		return {200, content_type(form), metrics(form)};
	}
	if (to.path == "/json")
		return json_of(metrics(exposition::json));
	if (to.path == "/api/topology") {
		refresh();
		return json_of(topology());
	}
	if (to.path == "/api/snapshot") {
		message();
		return json_of(snapshot_);
	}
	if (to.path == "/events")
		return {200, "text/event-stream", message(), nullptr, true};
	if (to.path == "/readyz")
		return counters_.ready()
			       ? plain(200, counters_.problem().empty()
						    ? "ok"
						    : counters_.problem())
			       : plain(503, counters_.problem());
	if (is_health(to.path))
		return plain(200, "ok");
	if (auto file = page_file(to.path))
		return *std::move(file);
	return plain(
		404,
		"there are /, /metrics, /json, /events, /api/topology, /api/snapshot, /livez and /readyz");
}

replay_site::replay_site(recording shown)
	: shown_(std::move(shown)), topology_(made_of(shown_.topology()))
{
}

/// "?from=INDEX&step=N&count=N": those that were recorded; without, as many as
/// a page can hold.
http_reply replay_site::snapshots(const http_request &to) const
{
	recording::part which = shown_.usual();
	const std::pair<const char *, size_t *> numbers[] = {
		{"from", &which.from},
		{"step", &which.step},
		{"count", &which.count}};
	bool asked = false;

	for (const auto &[name, number] : numbers)
		asked |= to.argument && !to.argument(name).empty();
	if (asked)
		which = {};
	for (const auto &[name, number] : numbers) {
		const std::string_view text =
			asked ? to.argument(name) : std::string_view();
		const char *end = text.data() + text.size();

		if (text.empty())
			continue;
		if (const auto read =
			    std::from_chars(text.data(), end, *number);
		    read.ec != std::errc() || read.ptr != end)
			return plain(400,
				     fmt::format("{}: not a number", name));
	}
	return {200, "application/x-ndjson", nullptr, shown_.snapshots(which)};
}

http_reply replay_site::answer(const http_request &to) const
{
	if (to.path == "/api/topology")
		return json_of(topology_);
	if (to.path == "/api/recording")
		return snapshots(to);
	if (is_health(to.path) || to.path == "/readyz")
		return plain(200, "ok");
	if (auto file = page_file(to.path))
		return *std::move(file);
	return plain(
		404,
		"there are /, /api/topology, /api/recording, /livez and /readyz");
}

} // namespace cli
