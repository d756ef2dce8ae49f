// SPDX-License-Identifier: GPL-2.0-or-later
// uncore serve: parses the options and executes uncore-serve.
#include "commands/serve.hpp"

#include <memory>

#include "commands/commands.hpp"
#include "output/message.hpp"
#include "process/program.hpp"

namespace cli {

/// Add the web server's options.
/// @return the options that are for the web server only, and not for --json and --textfile.
static std::vector<option> add_http(parser &command, serve_options &options)
{
	option listen = command.add_option(
		"--listen", options.listen,
		"Where to listen, each time that it is given; port 0 for any (127.0.0.1:10331)");
	option health = command.add_option(
		"--listen-health", options.listen_health,
		"Where to answer /livez and /readyz alone, without TLS");
	option hosts = command.add_option(
		"--allow-host", options.hosts,
		"A name that requests to a loopback address may be for, beside this machine's");
	option certificate = command.add_option(
		"--tls-cert", options.certificates, "Certificate, for HTTPS");
	option key = command.add_option("--tls-key", options.keys, "Its key");
	option clients = command.add_option(
		"--tls-client-ca", options.client_cas,
		"Authorities of the certificates that clients have to show");

	listen.one_value().type_name("ADDRESS:PORT|unix:PATH");
	health.one_value().type_name("ADDRESS:PORT|unix:PATH");
	hosts.one_value().type_name("NAME");
	certificate.one_value().type_name("FILE");
	key.one_value().type_name("FILE");
	clients.one_value().type_name("FILE");
	return {listen, health, certificate, clients};
}

static void add_pods(parser &command, serve_options &options)
{
	command.add_option(
		       "--pods", options.pods,
		       "Names of the cgroups' pods: /var/log/containers, or a list as the kubelet's, a file or its address")
		.type_name("FOLDER|FILE|URL");
	command.add_option("--pods-token", options.pods_token,
			   "The bearer token for that address")
		.type_name("FILE");
	command.add_option("--pods-ca", options.pods_authorities,
			   "Certificates of the authorities that vouch for it")
		.type_name("FILE");
}

void add_serve(parser &app, context &shared,
	       std::function<int(const serve_options &)> serve)
{
	auto options = std::make_shared<serve_options>();
	parser command =
		add_command(app, shared, "serve",
			    "Export counters to Prometheus, and show a die map",
			    [options, serve = std::move(serve)] {
				    return serve(*options);
			    });

	add_examples(
		command, "uncore serve",
		"uncore serve --textfile /var/lib/prometheus/node-exporter -I 15000");

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
	for (const option &listener : http) {
		json.excludes(listener);
		textfile.excludes(listener);
	}
	textfile.excludes(json);
	replay.excludes(json);
	replay.excludes(textfile);
	replay.excludes(cgroups);
	command.add_option("-I,--interval", options->interval_ms,
			   "Write the file every N milliseconds, 100 or more")
		.range(100, 3600000)
		.type_name("MILLISECONDS");
	command.add_option("-d,--duration", options->duration,
			   "Count for N seconds before writing once (1)")
		.range(0.001, 1e6)
		.type_name("SECONDS");
}

/// Execute uncore-serve with the words of this command line, without the word "serve".
static int execute_serve(const context &shared)
{
	std::vector<std::string> words = shared.words;
	auto word = words.begin();

	while (word->starts_with("--sysfs"))
		word += *word == "--sysfs" ? 2 : 1;
	words.erase(word);
	return fail(execute_beside("uncore-serve", words));
}

void add_serve(parser &app, context &shared)
{
	add_serve(app, shared, [&shared](const serve_options &) {
		return execute_serve(shared);
	});
}

} // namespace cli
