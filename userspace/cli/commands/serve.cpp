// SPDX-License-Identifier: GPL-2.0-or-later
// uncore serve: the machine's counters for Prometheus and as a die map, over
// HTTP, or as a file for node_exporter.
#include <chrono>
#include <memory>

#include "attribution/cgroup_traffic.hpp"
#include "commands/commands.hpp"
#include "common/output_file.hpp"
#include "common/signals.hpp"
#include "exporter/collector.hpp"
#include "exporter/exposition.hpp"
#include "exporter/http_server.hpp"
#include "exporter/recording.hpp"
#include "exporter/site.hpp"

namespace cli {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct serve_options {
	http_options http{"127.0.0.1:10331", "", ""};
	std::string textfile, replay;
	bool json = false, per_box = false, listens = false;
	unsigned interval_ms = 0, cgroups = 0;
	double duration = 0;
};

const std::initializer_list<int> ending = {SIGINT, SIGTERM, SIGHUP};
/// What ends it, and what releases and resumes the counters.
const std::initializer_list<int> wanted = {SIGINT, SIGTERM, SIGHUP, SIGUSR1,
					   SIGUSR2};

/// How often counters that want it are tended.
constexpr milliseconds serve_tick{100};

/// The earlier of two times, where there are two.
std::optional<clock::time_point> earlier(std::optional<clock::time_point> one,
					 std::optional<clock::time_point> other)
{
	return one && other ? std::min(one, other) : one ? one : other;
}

/// A service is stopped by SIGTERM.  Any other signal ends it as it ends other
/// programs.
int status_of(int number)
{
	return number == SIGTERM ? success : by_signal + number;
}

/// Waits as signals::wait() does, or for less.
/// @return the signal that ends it, or 0.
int attend(const signals &caught, collector &counters,
	    std::optional<clock::time_point> deadline, int other = -1)
{
	if (counters.wants_tending())
		deadline = earlier(deadline, clock::now() + serve_tick);

	const int number = caught.wait(deadline, other).number;

	counters.tend();
	if (number == SIGUSR1)
		counters.release();
	else if (number == SIGUSR2)
		counters.resume();
	else
		return number;
	return 0;
}

// --- over HTTP

int cannot_listen(const uncore::error &why)
{
	return why.code == uncore::errc::invalid ? fail_usage(why.message)
						 : fail(why);
}

/// Serves a recording, which needs no driver.
int serve_recording(const serve_options &options)
{
	const signals caught(ending);
	auto shown = recording::read(options.replay);

	if (!shown)
		return fail(shown.error());
	for (const std::string &notice : shown->notices)
		note(fmt::format("{}: {}", options.replay, notice));

	const replay_site pages(*std::move(shown));
	auto server = http_server::start(options.http,
					 [&pages](const http_request &request) {
						 return pages.answer(request);
					 });

	if (!server)
		return cannot_listen(server.error());
	note(fmt::format("listening on {}/, which shows a recording",
			 server->url()));
	for (;;) {
		const int number =
			caught.wait(server->deadline(), server->fd()).number;

		if (number)
			return status_of(number);
		server->run();
	}
}

int serve_http(collector &counters, const serve_options &options)
{
	const signals caught(wanted);
	site pages(counters);
	auto server = http_server::start(options.http,
					 [&pages](const http_request &request) {
						 return pages.answer(request);
					 });

	if (!server)
		return cannot_listen(server.error());
	if (auto opened = counters.open(); !opened)
		return fail(opened.error());
	note(fmt::format("listening on {}/metrics", server->url()));
	for (;;) {
		const int number = attend(
			caught, counters,
			earlier(server->deadline(), pages.deadline(*server)),
			server->fd());

		if (number)
			return status_of(number);
		pages.publish(*server);
		server->run();
	}
}

// --- into files

/// Waits until then.
/// @return the signal that ends it earlier, or 0.
int pass(const signals &caught, collector &counters, clock::time_point until)
{
	while (clock::now() < until)
		if (const int number = attend(caught, counters, until))
			return number;
	return 0;
}

uncore::result<void> write_file(const std::string &path, std::string_view text)
{
	auto file = output_file::create(path, 0644);

	if (!file)
		return file.error();
	file->write(text);
	return file->commit();
}

/// Brings the file up to date at each interval.  It goes with the program, as
/// nobody could tell its numbers from those of a machine that does nothing.
int keep_file(collector &counters, const serve_options &options,
	      const std::string &path)
{
	const milliseconds interval(options.interval_ms);
	const signals caught(wanted);
	auto next = clock::now();
	int number;

	if (auto opened = counters.open(); !opened)
		return fail(opened.error());
	do {
		const auto written = write_file(
			path, render(counters.read(), exposition::prometheus));

		if (!written)
			return fail(written.error());
		next = std::max(next + interval, clock::now());
		number = pass(caught, counters, next);
	} while (!number);
	std::remove(path.c_str());
	return status_of(number);
}

/// What was counted in a second, or as long as -d says.
int write_once(collector &counters, const serve_options &options,
	       const std::string &path)
{
	const std::chrono::duration<double> time(
		options.duration > 0 ? options.duration : 1);
	const signals caught(wanted);

	if (auto opened = counters.open(); !opened)
		return fail(opened.error());
	if (const int number = pass(
		    caught, counters,
		    clock::now() +
			    std::chrono::duration_cast<clock::duration>(time)))
		return by_signal + number;
	if (path.empty()) {
		const std::string text =
			render(counters.read(), exposition::json,
			       counters.machine());

		std::fwrite(text.data(), 1, text.size(), stdout);
		return success;
	}

	const auto written = write_file(
		path, render(counters.read(), exposition::prometheus));

	return written ? success : fail(written.error());
}

int serve(const context &shared, const serve_options &options)
{
	const bool file = !options.textfile.empty();
	std::string path = options.textfile;

	if (options.http.certificate.empty() != options.http.key.empty())
		return fail_usage("--tls-cert and --tls-key go together");
	if (options.interval_ms && !file)
		return fail_usage("-I is for --textfile");
	if (options.duration > 0 &&
	    (options.interval_ms || (!file && !options.json)))
		return fail_usage("-d is for --json, and for --textfile "
				  "without -I");
	if (file && std::filesystem::is_directory(path))
		path = std::filesystem::path(path) / "uncore.prom";
	if (file && !path.ends_with(".prom"))
		return fail_usage(fmt::format(
			"{}: no folder, and node_exporter reads no file whose "
			"name does not end in .prom",
			path));

	if (!options.replay.empty())
		return serve_recording(options);

	collector_options what{shared.sysfs, options.per_box, !file};

	if (options.cgroups)
		what.side = std::make_shared<cgroup_traffic>(shared.sysfs,
							     options.cgroups);

	collector counters(std::move(what));

	if (file && options.interval_ms)
		return keep_file(counters, options, path);
	if (file || options.json)
		return write_once(counters, options, path);
	return serve_http(counters, options);
}

} // namespace

void add_serve(parser &app, context &shared)
{
	auto options = std::make_shared<serve_options>();
	parser command = add_command(
		app, shared, "serve",
		"Export counters to Prometheus, and show a die map",
		[options, &shared] { return serve(shared, *options); });
	add_examples(command, "uncore serve",
		     "uncore serve --textfile "
		     "/var/lib/prometheus/node-exporter -I 15000");
	const option listen =
		command.add_option("--listen", options->http.listen,
				   "Where to listen; port 0 for any")
			.type_name("ADDRESS:PORT");
	const option certificate =
		command.add_option("--tls-cert", options->http.certificate,
				   "Certificate, for HTTPS")
			.type_name("FILE");
	command.add_option("--tls-key", options->http.key, "Its key")
		.type_name("FILE");
	command.add_flag("--per-box", options->per_box,
			 "Tell cache slices, home agents and ring stops apart");

	option cgroups = command.add_option(
		"--cgroups", options->cgroups,
		"Memory traffic of the cgroups with the most, that many");

	cgroups.range(1, 1000).type_name("COUNT");

	option json = command.add_flag("--json", options->json,
				       "Print JSON once, and serve nothing");

	json.excludes(listen);
	json.excludes(certificate);

	option textfile = command.add_option(
		"--textfile", options->textfile,
		"Write a file for node_exporter, and serve nothing");

	textfile.type_name("FOLDER|FILE.prom");
	textfile.excludes(listen);
	textfile.excludes(certificate);
	textfile.excludes(json);

	option replay = command.add_option(
		"--replay", options->replay,
		"Show a recording of 'uncore record --series' instead");

	replay.type_name("FILE");
	replay.excludes(json);
	replay.excludes(textfile);
	replay.excludes(cgroups);
	command.add_option("-I,--interval", options->interval_ms,
			   "Write the file every so many milliseconds, 100 or "
			   "more")
		.range(100, 3600000)
		.type_name("MILLISECONDS");
	command.add_option("-d,--duration", options->duration,
			   "Count for so many seconds before writing once (1)")
		.range(0.001, 1e6)
		.type_name("SECONDS");
}

} // namespace cli
