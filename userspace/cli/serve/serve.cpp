// SPDX-License-Identifier: GPL-2.0-or-later
// The work of uncore-serve: export the machine's counters to Prometheus and as
// a die map, over HTTP, or as a file for node_exporter.
#include "serve/serve.hpp"

#include <chrono>
#include <memory>
#include <tuple>

#include <fmt/format.h>

#include "cgroups/cgroup_traffic.hpp"
#include "exporter/collector.hpp"
#include "exporter/exposition.hpp"
#include "exporter/memory_peaks.hpp"
#include "http/server.hpp"
#include "output/message.hpp"
#include "process/output_file.hpp"
#include "process/signals.hpp"
#include "serve/recording.hpp"
#include "serve/site.hpp"

namespace cli {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Signals: SIGINT and SIGTERM end the program, SIGHUP reloads files, SIGUSR1
/// releases the counters, SIGUSR2 resumes them.
const std::initializer_list<int> serve_signals = {SIGINT, SIGTERM, SIGHUP,
						  SIGUSR1, SIGUSR2};

/// Longest time between two calls of collector::tend(), if it has to be called.
constexpr milliseconds serve_tick{100};

/// Return the earlier of two optional times.
std::optional<clock::time_point>
earlier(std::optional<clock::time_point> first,
	std::optional<clock::time_point> second)
{
	return first && second ? std::min(first, second)
	       : first	       ? first
			       : second;
}

/// Return the exit status for a signal.  SIGTERM is the regular end of a
/// service; any other signal ends the service as it ends other programs.
int status_of(int number)
{
	return number == SIGTERM ? success : by_signal + number;
}

/// Wait like signals::wait().  Meanwhile call collector::tend(), and handle SIGUSR1 and
/// SIGUSR2.
/// @return a signal for the caller to handle, or 0.
int attend(const signals &caught, collector &counters,
	   std::optional<clock::time_point> deadline, int fd = -1)
{
	if (counters.wants_tending())
		deadline = earlier(deadline, clock::now() + serve_tick);

	const int number = caught.wait(deadline, fd).number;

	counters.tend();
	if (number == SIGUSR1)
		counters.release();
	else if (number == SIGUSR2)
		counters.resume();
	else
		return number;
	return 0;
}

/// Open the counters.  A failure does not end the program, as each read tries again.  A
/// service that ended would be restarted in a loop, with the reason only in the log.
void open_if_possible(collector &counters)
{
	if (const auto opened = counters.open(); !opened)
		note(fmt::format(
			"{}; uncore_up is 0 until counters can be opened",
			opened.error().message));
}

// --- over HTTP

int cannot_listen(const uncore::error &failure)
{
	return failure.code == uncore::errc::invalid
		       ? fail_usage(failure.message)
		       : fail(failure);
}

/// Serve a recording, which needs no driver.
int serve_recording(const serve_options &options, const http_options &http)
{
	const signals caught({SIGINT, SIGTERM, SIGHUP});
	auto opened = recording::read(options.replay);

	if (!opened)
		return fail(opened.error());
	for (const std::string &notice : opened->notices())
		note(fmt::format("{}: {}", options.replay, notice));

	const replay_site pages(*std::move(opened));
	auto server =
		http_server::start(http, [&pages](const http_request &request) {
			return pages.answer(request);
		});

	if (!server)
		return cannot_listen(server.error());
	for (const std::string &url : server->urls())
		note(fmt::format("listening on {}{}, which shows a recording",
				 url, url.starts_with("unix:") ? "" : "/"));
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

/// Report measured peaks that the page's verdicts cannot use.
void note_unusable_peaks(const collector &counters)
{
	if (!counters.machine())
		return;

	const memory_peaks peaks = memory_peaks::read(*counters.machine());

	for (const std::string &line : peaks.problems())
		note(line);
}

int serve_http(collector &counters, const http_options &http)
{
	const signals caught(serve_signals);
	site pages(counters);
	auto server =
		http_server::start(http, [&pages](const http_request &request) {
			return pages.answer(request);
		});

	if (!server)
		return cannot_listen(server.error());
	open_if_possible(counters);
	note_unusable_peaks(counters);
	for (const std::string &url : server->urls())
		note(fmt::format("listening on {}{}", url,
				 url.starts_with("unix:") ? "" : "/metrics"));
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

/// Wait until a time.
/// @return the signal that ends the wait early, or 0.
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

/// Add the time at which the file is written, and the time between two writes.  They show
/// that a file is old: node_exporter exports it also after this program was killed.
std::vector<family> with_times(std::vector<family> families,
			       unsigned interval_ms)
{
	const std::chrono::duration<double> now =
		std::chrono::system_clock::now().time_since_epoch();

	families.push_back({"uncore_textfile_timestamp_seconds",
			    family::kind::gauge,
			    "seconds",
			    "When the file was written.",
			    {{{}, now.count()}}});
	if (interval_ms)
		families.push_back(
			{"uncore_textfile_interval_seconds",
			 family::kind::gauge,
			 "seconds",
			 "Time after which the file is written again.",
			 {{{}, interval_ms / 1e3}}});
	return families;
}

/// Write the file at each interval.  Remove it at the end, as counts that no longer change
/// look like those of an idle machine.
int keep_file(collector &counters, const serve_options &options,
	      const std::string &path)
{
	const milliseconds interval(options.interval_ms);
	const signals caught(serve_signals);
	auto next = clock::now();
	int number;

	open_if_possible(counters);
	do {
		const auto written = write_file(
			path,
			render(with_times(counters.read(), options.interval_ms),
			       exposition::prometheus));

		if (!written)
			return fail(written.error());
		next = std::max(next + interval, clock::now());
		number = pass(caught, counters, next);
	} while (!number);
	std::remove(path.c_str());
	return status_of(number);
}

/// Count for a second, or for the time of -d, and write the counts.
int write_once(collector &counters, const serve_options &options,
	       const std::string &path)
{
	const std::chrono::duration<double> time(
		options.duration > 0 ? options.duration : 1);
	const signals caught(serve_signals);

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

	const auto written =
		write_file(path, render(with_times(counters.read(), 0),
					exposition::prometheus));

	return written ? success : fail(written.error());
}

/// Return the file name of a TLS option; of several, the last.  An empty name is an
/// error, as it would silently disable the option.
uncore::result<std::string> file_of(const std::vector<std::string> &names,
				    const char *option)
{
	if (names.empty())
		return std::string();
	if (names.back().empty())
		return uncore::error{
			uncore::errc::invalid,
			fmt::format("{}: the file's name is empty", option)};
	return names.back();
}

/// Convert the options of uncore serve to options of the HTTP server.
uncore::result<http_options> http_of(const serve_options &options)
{
	http_options http{
		options.listen, options.listen_health, options.hosts, {}};

	for (const auto &[values, option, path] :
	     {std::tuple(&options.certificates, "--tls-cert",
			 &http.tls.certificate),
	      std::tuple(&options.keys, "--tls-key", &http.tls.key),
	      std::tuple(&options.client_cas, "--tls-client-ca",
			 &http.tls.client_ca)}) {
		auto file = file_of(*values, option);

		if (!file)
			return file.error();
		*path = *std::move(file);
	}
	if (http.tls.certificate.empty() != http.tls.key.empty())
		return uncore::error{uncore::errc::invalid,
				     "--tls-cert and --tls-key go together"};
	if (!http.tls.client_ca.empty() && http.tls.certificate.empty())
		return uncore::error{
			uncore::errc::invalid,
			"--tls-client-ca needs --tls-cert and --tls-key"};
	if (http.listen.empty())
		http.listen = {"127.0.0.1:10331"};
	return http;
}

} // namespace

int serve(const std::filesystem::path &sysfs, const serve_options &options)
{
	const bool file = !options.textfile.empty();
	const pod_source pods = {options.pods, options.pods_token,
				 options.pods_authorities};
	std::string path = options.textfile;
	const auto http = http_of(options);

	if (!http)
		return fail_usage(http.error().message);
	if (!pods.where.empty() && !options.cgroups)
		return fail_usage("--pods is for --cgroups");
	if (!is_address(pods.where) &&
	    !(options.pods_token + options.pods_authorities).empty())
		return fail_usage(
			"--pods-token and --pods-ca are for a list of pods that --pods gets from an address");
	if (options.interval_ms && !file)
		return fail_usage("-I is for --textfile");
	if (options.duration > 0 &&
	    (options.interval_ms || (!file && !options.json)))
		return fail_usage(
			"-d is for --json, and for --textfile without -I");
	if (file && std::filesystem::is_directory(path))
		path = std::filesystem::path(path) / "uncore.prom";
	if (file && !path.ends_with(".prom"))
		return fail_usage(fmt::format(
			"{}: no folder, and node_exporter reads no file whose name does not end in .prom",
			path));

	if (!options.replay.empty())
		return serve_recording(options, *http);

	collector_options counter_options{sysfs, options.per_box, !file};

	if (options.cgroups) {
		const auto traffic = std::make_shared<cgroup_traffic>(
			sysfs, options.cgroups, pods);

		if (const auto names_read = traffic->read_names();
		    !names_read) {
			if (options.json || (file && !options.interval_ms))
				return fail(names_read.error());
			note(fmt::format(
				"{}; pods have no names until they can be read",
				names_read.error().message));
		}
		counter_options.side = traffic;
	}

	collector counters(std::move(counter_options));

	if (file && options.interval_ms)
		return keep_file(counters, options, path);
	if (file || options.json)
		return write_once(counters, options, path);
	return serve_http(counters, *http);
}

} // namespace cli
