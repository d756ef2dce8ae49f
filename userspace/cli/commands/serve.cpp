// SPDX-License-Identifier: GPL-2.0-or-later
// uncore serve: the machine's counters for Prometheus and as a die map, over
// HTTP, or as a file for node_exporter.
#include <chrono>
#include <memory>
#include <tuple>

#include <fmt/format.h>

#include "cgroups/cgroup_traffic.hpp"
#include "commands/commands.hpp"
#include "exporter/collector.hpp"
#include "exporter/exposition.hpp"
#include "exporter/recording.hpp"
#include "exporter/site.hpp"
#include "http/server.hpp"
#include "output/message.hpp"
#include "process/output_file.hpp"
#include "process/signals.hpp"

namespace cli {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct serve_options {
	http_options http{{}, {}, "", "", ""};
	/// As given, as an empty name is not the same as none.
	std::vector<std::string> certificates, keys, web_configs;
	std::string textfile, replay;
	pod_source pods;
	std::string pods_token, pods_authorities;
	bool json = false, per_box = false;
	unsigned interval_ms = 0, cgroups = 0;
	double duration = 0;
};

/// What ends it; SIGHUP has files read again; the other two release and resume
/// the counters.
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
/// @return a signal that is the caller's, or 0.
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

/// Open the counters; those that fail are tried again at each read.
/// Errors: what only the administrator can change.
uncore::result<void> open_if_possible(collector &counters)
{
	auto opened = counters.open();

	if (opened || opened.error().code == uncore::errc::permission ||
	    opened.error().code == uncore::errc::unsupported)
		return opened;
	note(fmt::format("{}; uncore_up is 0 until counters can be opened",
			 opened.error().message));
	return {};
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
	const signals caught({SIGINT, SIGTERM, SIGHUP});
	auto shown = recording::read(options.replay);

	if (!shown)
		return fail(shown.error());
	for (const std::string &notice : shown->notices())
		note(fmt::format("{}: {}", options.replay, notice));

	const replay_site pages(*std::move(shown));
	auto server = http_server::start(options.http,
					 [&pages](const http_request &request) {
						 return pages.answer(request);
					 });

	if (!server)
		return cannot_listen(server.error());
	for (const std::string &url : server->urls())
		note(fmt::format("listening on {}/, which shows a recording",
				 url));
	for (;;) {
		const int number =
			caught.wait(server->deadline(), server->fd()).number;

		if (number == SIGHUP)
			server->reload();
		else if (number)
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
	if (auto opened = open_if_possible(counters); !opened)
		return fail(opened.error());
	for (const std::string &url : server->urls())
		note(fmt::format("listening on {}/metrics", url));
	for (;;) {
		const int number = attend(
			caught, counters,
			earlier(server->deadline(), pages.deadline(*server)),
			server->fd());

		if (number == SIGHUP)
			server->reload();
		else if (number)
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
	while (clock::now() < until) {
		const int number = attend(caught, counters, until);

		if (number && number != SIGHUP)
			return number;
	}
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

/// Bring the file up to date at each interval.  The program removes it at its end:
/// old numbers look like those of an idle machine.
int keep_file(collector &counters, const serve_options &options,
	      const std::string &path)
{
	const milliseconds interval(options.interval_ms);
	const signals caught(wanted);
	auto next = clock::now();
	int number;

	if (auto opened = open_if_possible(counters); !opened)
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
		const std::string text = render(
			counters.read(), exposition::json, counters.machine());

		std::fwrite(text.data(), 1, text.size(), stdout);
		return success;
	}

	const auto written = write_file(
		path, render(counters.read(), exposition::prometheus));

	return written ? success : fail(written.error());
}

/// A file that is to be used; an empty name would quietly do without.
uncore::result<std::string> file_of(const std::vector<std::string> &given,
				    const char *option)
{
	if (given.empty())
		return std::string();
	if (given.back().empty())
		return uncore::error{
			uncore::errc::invalid,
			fmt::format("{}: the file's name is empty", option)};
	return given.back();
}

/// The options of HTTP as the server wants them.
uncore::result<http_options> http_of(const serve_options &options)
{
	http_options made = options.http;

	for (const auto &[given, name, to] :
	     {std::tuple(&options.certificates, "--tls-cert",
			 &made.certificate),
	      std::tuple(&options.keys, "--tls-key", &made.key),
	      std::tuple(&options.web_configs, "--web-config",
			 &made.web_config)}) {
		auto file = file_of(*given, name);

		if (!file)
			return file.error();
		*to = *std::move(file);
	}
	if (made.certificate.empty() != made.key.empty())
		return uncore::error{uncore::errc::invalid,
				     "--tls-cert and --tls-key go together"};
	if (made.listen.empty())
		made.listen = {"127.0.0.1:10331"};
	return made;
}

int serve(const context &shared, serve_options options)
{
	const bool file = !options.textfile.empty();
	std::string path = options.textfile;

	if (auto http = http_of(options); http)
		options.http = *std::move(http);
	else
		return fail_usage(http.error().message);
	if (!options.pods.where.empty() && !options.cgroups)
		return fail_usage("--pods is for --cgroups");
	if (!is_address(options.pods.where) &&
	    !(options.pods_token + options.pods_authorities).empty())
		return fail_usage("--pods-token and --pods-ca are for a list "
				  "of pods that --pods gets from an address");
	options.pods.token = options.pods_token;
	options.pods.authorities = options.pods_authorities;
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
		what.side = std::make_shared<cgroup_traffic>(
			shared.sysfs, options.cgroups, options.pods);

	collector counters(std::move(what));

	if (file && options.interval_ms)
		return keep_file(counters, options, path);
	if (file || options.json)
		return write_once(counters, options, path);
	return serve_http(counters, options);
}

} // namespace

/// Options of the web server, which excludes other outputs.
static std::vector<option> add_http(parser &command, serve_options &options)
{
	option listen = command.add_option(
		"--listen", options.http.listen,
		"Where to listen, each time that it is given; port 0 for any "
		"(127.0.0.1:10331)");
	option hosts = command.add_option(
		"--allow-host", options.http.hosts,
		"A name that requests to a loopback address may be for, beside "
		"this machine's");
	option certificate = command.add_option(
		"--tls-cert", options.certificates, "Certificate, for HTTPS");
	option key = command.add_option("--tls-key", options.keys, "Its key");
	option web = command.add_option(
		"--web-config", options.web_configs,
		"Web configuration file of Prometheus' exporters: TLS, client "
		"certificates, users");

	listen.one_value().type_name("ADDRESS:PORT");
	hosts.one_value().type_name("NAME");
	certificate.one_value().type_name("FILE");
	key.one_value().type_name("FILE");
	web.one_value().type_name("FILE");
	web.excludes(certificate);
	return {listen, certificate, web};
}

static void add_pods(parser &command, serve_options &options)
{
	command.add_option(
		       "--pods", options.pods.where,
		       "Names of the cgroups' pods: /var/log/containers, or "
		       "a list as the kubelet's, a file or its address")
		.type_name("FOLDER|FILE|URL");
	command.add_option("--pods-token", options.pods_token,
			   "The bearer token for that address")
		.type_name("FILE");
	command.add_option("--pods-ca", options.pods_authorities,
			   "Certificates of the authorities that vouch for it")
		.type_name("FILE");
}

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

	const std::vector<option> http = add_http(command, *options);

	command.add_flag("--per-box", options->per_box,
			 "Tell cache slices, home agents and ring stops apart");

	option cgroups = command.add_option(
		"--cgroups", options->cgroups,
		"Memory traffic of the cgroups with the most, that many");

	cgroups.range(1, 1000).type_name("COUNT");
	add_pods(command, *options);

	option json = command.add_flag("--json", options->json,
				       "Print JSON once, and serve nothing");
	option textfile = command.add_option(
		"--textfile", options->textfile,
		"Write a file for node_exporter, and serve nothing");
	option replay = command.add_option(
		"--replay", options->replay,
		"Show a recording of 'uncore record --series' instead");

	textfile.type_name("FOLDER|FILE.prom");
	replay.type_name("FILE");
	for (const option &one : http) {
		json.excludes(one);
		textfile.excludes(one);
	}
	textfile.excludes(json);
	replay.excludes(json);
	replay.excludes(textfile);
	replay.excludes(cgroups);
	command.add_option("-I,--interval", options->interval_ms,
			   "Write the file every N milliseconds, 100 or "
			   "more")
		.range(100, 3600000)
		.type_name("MILLISECONDS");
	command.add_option("-d,--duration", options->duration,
			   "Count for N seconds before writing once (1)")
		.range(0.001, 1e6)
		.type_name("SECONDS");
}

} // namespace cli
