// SPDX-License-Identifier: GPL-2.0-or-later
// uncore diagnose: counts sets of metrics in turn, and prints what stands out; with
// --calibrate, measures the peaks that memory is compared with.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "counting/run.hpp"
#include "diagnosis/calibration.hpp"
#include "diagnosis/metric_sets.hpp"
#include "diagnosis/report.hpp"
#include "exporter/memory_peaks.hpp"
#include "output/csv.hpp"
#include "output/document.hpp"
#include "output/message.hpp"
#include "output/number.hpp"
#include "output/sink.hpp"
#include "terminal/layout.hpp"

namespace cli {

namespace {

using std::chrono::nanoseconds;

/// Seconds of counting without a command and a duration: two rounds of slices or more.
constexpr double usual_seconds = 5;

struct diagnose_options {
	run_options run;
	format form = format::human;
	std::string output;
	bool verbose = false, calibrate = false;
};

/// Return the error of a run that was too short for a diagnosis.
std::string too_short(const diagnose_options &options, const metric_sets &sets)
{
	const double needed = sets.needed_seconds();

	if (options.run.command.empty())
		return fmt::format(
			"{:.3f} s are too short for the {} sets of metrics: count for longer (-d {:.1f})",
			sets.seconds(), sets.size(), needed);
	return fmt::format(
		"'{}' ended after {:.3f} s, too soon for the {} sets of metrics: repeat it for {:.1f} s or longer, or diagnose the machine while it runs",
		options.run.command.front(), sets.seconds(), sets.size(),
		needed);
}

/// Count until the end of the run.
run_end count(const diagnose_options &options, metric_sets &sets)
{
	uncore::result<void> outcome;
	run_hooks hooks;

	hooks.enable = [&] { return sets.enable(options.run.duration); };
	hooks.sample = [&]() -> nanoseconds {
		const auto pause = sets.step();

		for (const std::string &line : sets.news())
			note(line);
		if (pause)
			return *pause;
		outcome = pause.error();
		return {};
	};
	hooks.poll = [&] { return bool(outcome); };
	hooks.tick = [&](bool) {
		if (outcome)
			outcome = sets.finish();
		return bool(outcome);
	};
	hooks.progress = true;

	auto ended = run(options.run, hooks);

	if (ended && !outcome)
		return outcome.error();
	return ended;
}

bool print(const diagnosis &result, const diagnose_options &options,
	   const uncore::topology &machine, sink &output)
{
	if (options.form == format::csv)
		return output.write(csv_of(result));
	if (options.form == format::human)
		return output.write(text_of(result, options.verbose,
					    columns_of(output.file()),
					    output.file()));

	nlohmann::ordered_json document = begin_document("diagnose", &machine);

	document.update(json_of(result));
	return output.write(document_line(document));
}

nlohmann::ordered_json document_of(const calibration &measured,
				   const uncore::topology &machine)
{
	nlohmann::ordered_json document = begin_document("diagnose", &machine);

	for (const calibrated_socket &socket : measured.sockets())
		document["memory_peaks"].push_back(
			{{"socket", socket.socket},
			 {"value", socket.bytes_per_second},
			 {"computed", socket.computed},
			 {"unit", "B/s"},
			 {"program", socket.program}});
	return document;
}

std::string text_of(const calibration &measured, const std::string &path)
{
	std::string text;

	for (const calibrated_socket &socket : measured.sockets())
		text += fmt::format("Socket {}: {} by {}, {} of {} computed\n", socket.socket,
				    per_second(socket.bytes_per_second, "B", true),
				    socket.program,
				    percent(socket.bytes_per_second / socket.computed),
				    per_second(socket.computed, "B", true));
	return text + fmt::format("Kept in {}\n", path);
}

std::string csv_of(const calibration &measured)
{
	std::string text = csv_line({"socket", "value", "computed", "unit", "program"});

	for (const calibrated_socket &socket : measured.sockets())
		text += csv_line({std::to_string(socket.socket),
				  exact(socket.bytes_per_second), exact(socket.computed),
				  "B/s", socket.program});
	return text;
}

int calibrate(const context &shared, const diagnose_options &options,
	      const uncore::topology &machine)
{
	const rule_set rules = rule_set::of(uncore::catalogue::of(machine));
	const rule *measured = rules.calibrated();
	sink output;

	if (!measured)
		return fail(uncore::error{
			uncore::errc::unsupported,
			rules.absent.empty() ? "no rule compares with a measured peak"
					     : rules.absent.front().reason});
	if (auto opened = output.open(options.output); !opened)
		return fail(opened.error());
	if (auto possible = memory_peaks::check_keeping(); !possible)
		return fail(possible.error());

	calibration sockets(shared.sysfs, machine, *measured);

	if (const run_end ended = sockets.run(); !ended || ended.status() != success)
		return ended ? ended.status() : fail(ended);

	nlohmann::ordered_json document = document_of(sockets, machine);
	const auto path = memory_peaks::keep(document);

	if (!path)
		return fail(path.error());
	document["file"] = *path;
	return output.write(options.form == format::csv	  ? csv_of(sockets)
			    : options.form == format::human ? text_of(sockets, *path)
							    : document_line(document))
		       ? success
		       : failure;
}

int diagnose(const context &shared, diagnose_options &options)
{
	const auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return fail(machine.error());
	if (options.calibrate)
		return options.run.command.empty()
			       ? calibrate(shared, options, *machine)
			       : fail_usage("--calibrate runs its own programs, and no command");
	if (options.run.command.empty() && !options.run.duration)
		options.run.duration = usual_seconds;

	rule_set rules =
		rule_set::of(uncore::catalogue::of(*machine));
	const memory_peaks peaks = memory_peaks::read(*machine);
	metric_sets sets(*machine);

	for (const std::string &line : peaks.problems())
		note(line);
	rules.use(peaks, *machine);
	sets.add(rules);
	// The last rules that were left out are those that the machine has no box
	// for, or no driver.
	if (!sets.size())
		return fail(uncore::error{uncore::errc::unsupported,
					  rules.absent.empty()
						  ? "there is no rule"
						  : rules.absent.back().reason});

	sink output;

	if (auto opened = output.open(options.output); !opened)
		return fail(opened.error());
	if (auto opened = sets.open(rules); !opened)
		return fail(opened.error());
	for (const std::string &line : sets.news())
		note(line);

	const run_end ended = count(options, sets);

	if (!ended)
		return fail(ended);
	if (!sets.is_complete())
		return ended.status() >= by_signal ? ended.status()
						   : fail(too_short(options, sets));

	diagnosis result{sets.seconds(), sets.rounds(), sets.groups()};

	result.numbers = sets.read();
	result.assessments = assess(rules.rules, result.numbers);
	result.not_judged = not_judged(rules.rules, result.numbers);
	result.absent = rules.absent;
	return print(result, options, *machine, output) ? ended.status()
							: failure;
}

} // namespace

void add_diagnose(parser &app, context &shared)
{
	auto options = std::make_shared<diagnose_options>();
	parser command = add_command(
		app, shared, "diagnose", "Say what limits memory traffic",
		[options, &shared] { return diagnose(shared, *options); });

	add_examples(command, "uncore diagnose", "uncore diagnose -d 20");
	const option verbose = command.add_flag(
		"-v,--verbose", options->verbose,
		"Also rules without a finding, and rules that were left out");
	add_time_options(command, options->run);
	command.add_flag("--calibrate", options->calibrate,
			 "Measure the peak of each socket's memory, and keep it for comparison")
		.excludes(verbose)
		.excludes(*command.find_option("--duration"));
	add_output(command, options->output);
	add_format(command, options->form);
}

} // namespace cli
