// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter/site.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/cli.hpp"
#include "exporter/die_map.hpp"
#include "exporter/web_files.hpp"

namespace cli {

namespace {

using std::chrono::milliseconds;
using text = std::shared_ptr<const std::string>;

/// Reads that are asked for closer together than this are one.
constexpr milliseconds shared_time{1000};

text made_of(std::string said)
{
	return std::make_shared<const std::string>(std::move(said));
}

http_reply plain(unsigned status, std::string said)
{
	return {status, "text/plain; charset=utf-8", made_of(std::move(said))};
}

http_reply json_of(text body)
{
	return {200, "application/json", std::move(body)};
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
		snapshot_ =
			made_of(dump(snapshot(counters_, read_at_), -1) + "\n");
		message_ = made_of(fmt::format("data: {}\n", *snapshot_));
	}
	return message_;
}

std::optional<site::clock::time_point>
site::deadline(const http_server &of) const
{
	if (!of.streams())
		return std::nullopt;
	return std::max(read_at_, published_) + shared_time;
}

void site::publish(http_server &to)
{
	const auto due = deadline(to);

	if (!due || clock::now() < *due)
		return;
	to.publish(message());
	published_ = clock::now();
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
		return {200, "text/event-stream", message(), true};
	if (to.path == "/healthz")
		return counters_.problem().empty()
			       ? plain(200, "ok\n")
			       : plain(503, counters_.problem() + "\n");
	if (auto file = page_file(to.path))
		return *std::move(file);
	return plain(404, "there are /, /metrics, /json, /events, "
			  "/api/topology, /api/snapshot and /healthz\n");
}

replay_site::replay_site(recording shown)
	: topology_(made_of(std::move(shown.topology))),
	  snapshots_(made_of(std::move(shown.snapshots)))
{
}

http_reply replay_site::answer(const http_request &to) const
{
	if (to.path == "/api/topology")
		return json_of(topology_);
	if (to.path == "/api/recording")
		return {200, "application/x-ndjson", snapshots_};
	if (to.path == "/healthz")
		return plain(200, "ok\n");
	if (auto file = page_file(to.path))
		return *std::move(file);
	return plain(404, "there are /, /api/topology, /api/recording and "
			  "/healthz\n");
}

} // namespace cli
