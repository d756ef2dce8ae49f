// SPDX-License-Identifier: GPL-2.0-or-later
// uncore record: executes perf record, with events in perf's syntax; with
// --series, records counts for the die map.

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arguments/pass_through.hpp"
#include "commands/commands.hpp"
#include "counting/event_notes.hpp"
#include "counting/run.hpp"
#include "exporter/recording.hpp"
#include "output/message.hpp"
#include "perf/event_string.hpp"
#include "perf/program.hpp"
#include "sampling.hpp"

namespace cli {

struct record_options {
	run_options run;
	std::vector<std::string> events;
	std::string series;
};

/// Interval of snapshots with --series.
static constexpr unsigned series_ms = 1000;

/// Options of perf record that take a value: letters with a value, letters with an
/// optional value, and long names.  The list tells a value from the measured command.  An
/// option of a newer perf that is not in the list needs --OPTION=VALUE, or "--" before the
/// command.
static const valued_options perf_record_options = {"cCDFGjkmoprtu",
						   "ISz",
						   {"affinity",
						    "branch-filter",
						    "call-graph",
						    "cgroup",
						    "clang-opt",
						    "clang-path",
						    "clockid",
						    "control",
						    "count",
						    "cpu",
						    "delay",
						    "filter",
						    "freq",
						    "max-size",
						    "mmap-flush",
						    "mmap-pages",
						    "num-thread-synthesize",
						    "output",
						    "pid",
						    "proc-map-timeout",
						    "realtime",
						    "switch-max-files",
						    "switch-output-event",
						    "synth",
						    "tid",
						    "uid",
						    "vmlinux"}};

std::vector<std::string>
take_perf_options(const parser &app, const std::vector<std::string> &words,
		  context &shared)
{
	const auto command = app.find_command("record");
	size_t position = 0;

	// Only --sysfs PATH can be before a subcommand.
	if (!words.empty() && words[0] == "--sysfs")
		position = 2;
	else if (!words.empty() && words[0].starts_with("--sysfs="))
		position = 1;
	if (!command || position >= words.size() || words[position] != "record")
		return words;

	const auto options = words.begin() + position + 1;
	auto separated = separate_options(*command, {options, words.end()},
					  perf_record_options);
	std::vector<std::string> own_words(words.begin(), options);

	shared.perf_options = std::move(separated.passed);
	own_words.insert(own_words.end(), separated.own.begin(),
			 separated.own.end());
	return own_words;
}

/// Events in perf's syntax, and the CPUs on which events of boxes can be sampled.
struct perf_events_text {
	std::vector<std::string> events;
	std::set<int> cpus;
};

static uncore::result<void> add_term(const uncore::event_term &term,
				     const uncore::topology &machine,
				     perf_events_text &text)
{
	for (const uncore::event &event : term.events) {
		if (auto refusal = uncore::sampling_refusal(event))
			return *refusal;

		auto event_text =
			perf_event_string(event, term.events.size() > 1);

		if (!event_text)
			return event_text.error();
		text.events.push_back(*std::move(event_text));
		if (!event.pmu ||
		    event.pmu->driver == uncore::pmu_driver::other)
			continue;
		if (auto sampled = uncore::try_sampling(event); !sampled)
			return sampled;

		const auto cpus = uncore::sampled_cpus(event, machine);

		text.cpus.insert(cpus.begin(), cpus.end());
	}
	return {};
}

static uncore::result<perf_events_text>
translate(const std::vector<std::string> &lists,
	  const uncore::topology &machine)
{
	perf_events_text text;

	for (const std::string &list : lists) {
		const auto groups = uncore::parse_events(list, machine);

		if (!groups)
			return groups.error();
		note_unlisted(*groups, machine);
		for (const auto &group : *groups)
			for (const auto &term : group.terms)
				if (auto added = add_term(term, machine, text);
				    !added)
					return added.error();
	}
	return text;
}

/// Return whether an option of perf chooses CPUs or tasks.
static bool is_target(const std::string &option)
{
	if (option.starts_with("--")) {
		const std::string name = option.substr(2, option.find('=') - 2);

		return name == "cpu" || name == "pid" || name == "tid" ||
		       name == "uid" || name == "per-thread";
	}
	if (!option.starts_with('-'))
		return false;
	for (const char letter : option.substr(1)) {
		if (std::string_view("Cptu").find(letter) != std::string::npos)
			return true;
		if (perf_record_options.letters.find(letter) !=
		    std::string::npos)
			return false;
	}
	return false;
}

static int record_samples(const record_options &options, const context &shared)
{
	const auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return fail(machine.error());

	const auto text = translate(options.events, *machine);

	if (!text)
		return fail(text.error());

	std::vector<std::string> words = {"record"};

	for (const std::string &event : text->events)
		words.insert(words.end(), {"-e", event});
	// Without -C perf opens a box's event only on the CPU of each socket that
	// the PMU's cpumask names.  Sample on all CPUs of the sockets, so that
	// each CPU has a sample of its own code; they share the counter.
	// --period: a late sample stands for several periods, and has this weight.
	if (!text->cpus.empty())
		words.push_back("--period");
	if (!text->cpus.empty() &&
	    std::none_of(shared.perf_options.begin(), shared.perf_options.end(),
			 is_target))
		words.insert(
			words.end(),
			{"-C", fmt::format("{}", fmt::join(text->cpus, ","))});
	words.insert(words.end(), shared.perf_options.begin(),
		     shared.perf_options.end());
	if (options.run.duration > 0)
		words.insert(words.end(),
			     {"--", "sleep",
			      fmt::format("{}", options.run.duration)});
	if (!options.run.command.empty())
		words.push_back("--");
	words.insert(words.end(), options.run.command.begin(),
		     options.run.command.end());
	return fail(become_perf(words));
}

/// Record the counters of uncore serve, once a second.
static int record_series(const record_options &options, const context &shared)
{
	using clock = std::chrono::steady_clock;
	collector counters({shared.sysfs, true, false});
	std::optional<recorder> file;
	run_hooks hooks;
	auto add_snapshot = [&] {
		(void)counters.read();
		file->add(counters, clock::now());
		return !file->failed();
	};

	hooks.enable = [&]() -> uncore::result<void> {
		if (auto opened = counters.open(); !opened)
			return opened;

		// Create the file after the counters are open: if they cannot be
		// opened, an existing file stays.
		auto recording = recorder::create(options.series);

		if (!recording)
			return recording.error();
		file.emplace(*std::move(recording));
		file->begin(counters);
		add_snapshot();
		return {};
	};
	hooks.tick = [&](bool) { return add_snapshot(); };
	hooks.read_ms = series_ms;

	const auto ended = run(options.run, hooks);

	if (!ended)
		return fail(ended);
	if (auto outcome = file->end(); !outcome)
		return fail(outcome.error());
	fmt::print(stderr, "{} snapshots in {}\n", file->snapshots(),
		   options.series);
	return ended.status();
}

static int record(const record_options &options, const context &shared)
{
	if (!options.series.empty()) {
		if (!shared.perf_options.empty())
			return fail_usage(fmt::format(
				"--series excludes {}: it counts, and perf does not run",
				shared.perf_options.front()));
		return record_series(options, shared);
	}
	if (options.events.empty())
		return fail_usage("--event is required, or --series");
	if (options.run.duration > 0 && !options.run.command.empty())
		return fail_usage(
			"--duration excludes a command: use 'timeout -s INT' before the command");
	return record_samples(options, shared);
}

void add_record(parser &app, context &shared)
{
	auto options = std::make_shared<record_options>();
	parser command = add_command(
		app, shared, "record", "Sample with perf record",
		[options, &shared] { return record(*options, shared); });

	add_examples(command, "uncore record -e imc/cas_count.rd/ make -j",
		     "uncore record -e ha/requests.reads/ -g -F 99 -d 5");
	option events = command.add_option(
		"-e,--event", options->events,
		"Events, with names of values; other options are perf record's");

	events.one_value();
	events.type_name("EVENT,...");
	option series = command.add_option(
		"--series", options->series,
		"Count what uncore serve does, for serve --replay, and sample nothing");

	series.type_name("FILE");
	series.excludes(events);
	add_time_options(command, options->run);
}

} // namespace cli
