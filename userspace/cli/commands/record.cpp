// SPDX-License-Identifier: GPL-2.0-or-later
// uncore record: samples where the traffic comes from, as a perf.data file or
// as folded stacks; or counts it, for the die map.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "counting/event_notes.hpp"
#include "counting/run.hpp"
#include "exporter/recording.hpp"
#include "output/message.hpp"
#include "output/sink.hpp"
#include "perfdata/folded.hpp"
#include "perfdata/perf_writer.hpp"
#include "perfdata/profile.hpp"
#include "process/output_file.hpp"

namespace cli {

struct record_options {
	run_options run;
	std::vector<std::string> events;
	std::vector<int> cpus;
	std::string output, series;
	uint64_t period = 100000, frequency = 0;
	bool folded = false, all_cpus = false, chains = false;
};

/// How often the files of new processes are opened, before they end.
static constexpr unsigned look_ms = 50;
/// How often ring buffers that are not half full are emptied.
static constexpr unsigned drain_ms = 500;
/// How often counts are written down.
static constexpr unsigned series_ms = 1000;

/// The kernel refuses frequencies above its limit.
static uint64_t limited_frequency(uint64_t frequency)
{
	static constexpr const char *path =
		"/proc/sys/kernel/perf_event_max_sample_rate";
	uint64_t limit = 0;

	if (!(std::ifstream(path) >> limit) || !limit || frequency <= limit)
		return frequency;
	note(fmt::format("{} samples a second are used, not {}: "
			 "kernel.perf_event_max_sample_rate is the limit",
			 limit, frequency));
	return limit;
}

/// Ctrl-C and the like wait until what was written aside can be taken back.
class signals_held {
public:
	signals_held()
	{
		sigset_t set;

		sigemptyset(&set);
		for (int number : {SIGINT, SIGTERM, SIGHUP})
			sigaddset(&set, number);
		sigprocmask(SIG_BLOCK, &set, &old_);
	}
	signals_held(const signals_held &) = delete;
	~signals_held() { sigprocmask(SIG_SETMASK, &old_, nullptr); }

private:
	sigset_t old_;
};

static uncore::result<std::vector<uncore::event>>
events_of(const record_options &options, const uncore::topology &machine)
{
	std::vector<uncore::event> events;
	size_t terms = 0;

	for (const auto &text : options.events) {
		auto groups = uncore::parse_events(text, machine);

		if (!groups)
			return groups.error();
		note_unlisted(*groups, machine);
		for (const auto &group : *groups)
			for (const auto &term : group.terms) {
				terms++;
				for (uncore::event event : term.events) {
					if (event.pmu && term.events.size() > 1)
						event.name +=
							" " + event.pmu->name;
					events.push_back(std::move(event));
				}
			}
	}
	// A line of folded stacks has a count, and no room for what it counts.
	if (options.folded && terms > 1)
		return uncore::error{uncore::errc::invalid,
				     "--folded counts one event: run it for "
				     "each, or record without --folded"};
	for (const auto &event : events)
		if (event.type == uncore::event::duration_time)
			return uncore::error{uncore::errc::invalid,
					     event.text + ": cannot sample"};
	return events;
}

/// Folds the samples of a finished file and writes the stacks.
/// @return the exit status.
static int write_folded(const perf_writer &samples, symbolizer &names,
			const std::string &path)
{
	const auto file = samples.read_back();

	if (!file)
		return fail(file.error());

	const profile found(*file, nullptr);
	std::string text;

	names.set_recorded_kernel(file->kernel, file->release);
	// events_of() permits one event.
	for (const profile_event &event : found.events())
		text = folded_text(fold(*file, found, event, names));
	if (path.empty()) {
		if (!sink().write(text))
			return failure;
	} else {
		auto output = output_file::create(path, 0666);

		if (!output)
			return fail(output.error());
		output->write(text);
		if (auto written = output->commit(); !written)
			return fail(written.error());
	}
	for (const std::string &reason : names.reasons())
		note(reason);
	return success;
}

/// @return the exit status: that of the run, unless samples were lost.
static int say_samples(const perf_writer &file, const std::string &place,
		       int status)
{
	const std::string samples =
		fmt::format("{} sample{} in {}", file.samples(),
			    file.samples() == 1 ? "" : "s", place);

	if (!file.lost()) {
		fmt::print(stderr, "{}\n", samples);
		return status;
	}
	note(fmt::format("{}, {} lost, as the ring buffers were full: use a "
			 "larger period (-c) or fewer CPUs (-C)",
			 samples, file.lost()));
	return status ? status : incomplete;
}

/// Writes the kernel's samples down.
static int record_samples(const record_options &options,
			  const std::vector<uncore::event> &events,
			  const uncore::topology &machine)
{
	uncore::sampling_options wanted;

	wanted.period = options.frequency ? 0 : options.period;
	wanted.frequency = limited_frequency(options.frequency);
	wanted.cpus = options.cpus;
	wanted.call_chains = options.chains || options.folded;

	auto sampling = uncore::sampler::open(events, machine, wanted);

	if (!sampling)
		return fail(sampling.error());

	const std::string path = options.folded		  ? ""
				 : options.output.empty() ? "perf.data"
							  : options.output;
	symbolizer names;
	signals_held held;
	auto file = perf_writer::create(path, sampling->events());

	if (!file)
		return fail(file.error());
	if (options.folded)
		file->watch([&](const code_mapping &m) { names.keep(m); });
	file->describe(machine);
	file->add_kernel();
	file->add_tasks();

	run_hooks hooks;
	auto drain = [&] {
		sampling->drain([&](const perf_event_header &header, int) {
			file->add(header);
		});
		return !file->failed();
	};

	hooks.enable = [&] { return sampling->enable(); };
	hooks.tick = [&](bool last) {
		if (last)
			(void)!sampling->disable();
		if (options.folded)
			names.keep_lists();
		return drain();
	};
	hooks.read_ms = options.folded ? look_ms : drain_ms;
	hooks.poll = drain;
	hooks.poll_fd = sampling->poll_fd();

	const auto ended = run(options.run, hooks);

	if (!ended)
		return fail(ended);
	file->add_lost(sampling->lost());
	if (auto finished = file->finish(options.run.command); !finished)
		return fail(finished.error());
	if (options.folded)
		if (int failed = write_folded(*file, names, options.output))
			return failed;
	return say_samples(*file, options.folded ? "folded stacks" : path,
			   ended.status());
}

/// Writes down what uncore serve shows: its counters, each second.
static int record_series(const record_options &options, const context &shared)
{
	using clock = std::chrono::steady_clock;
	collector counters({shared.sysfs, true, false});
	std::optional<recorder> file;
	run_hooks hooks;
	auto add = [&] {
		(void)counters.read();
		file->add(counters, clock::now());
		return !file->failed();
	};

	hooks.enable = [&]() -> uncore::result<void> {
		if (auto opened = counters.open(); !opened)
			return opened;

		// A file of that name stays until there are counters.
		auto made = recorder::create(options.series);

		if (!made)
			return made.error();
		file.emplace(*std::move(made));
		file->begin(counters);
		add();
		return {};
	};
	hooks.tick = [&](bool) { return add(); };
	hooks.read_ms = series_ms;

	const auto ended = run(options.run, hooks);

	if (!ended)
		return fail(ended);
	if (auto whole = file->end(); !whole)
		return fail(whole.error());
	fmt::print(stderr, "{} snapshots in {}\n", file->snapshots(),
		   options.series);
	return ended.status();
}

static int record(record_options &options, const context &shared)
{
	if (!options.series.empty())
		return record_series(options, shared);
	if (options.events.empty())
		return fail_usage("--event is required, or --series");

	// An event is opened once on a CPU, however often that is named.
	std::sort(options.cpus.begin(), options.cpus.end());
	options.cpus.erase(
		std::unique(options.cpus.begin(), options.cpus.end()),
		options.cpus.end());

	auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return fail(machine.error());

	auto events = events_of(options, *machine);

	if (!events)
		return fail(events.error());
	return record_samples(options, *events, *machine);
}

void add_record(parser &app, context &shared)
{
	auto o = std::make_shared<record_options>();
	parser command = add_command(
		app, shared, "record", "Sample what runs when events overflow",
		[o, &shared] { return record(*o, shared); });

	add_examples(command, "uncore record -e imc/cas_count.rd/ make -j",
		     "uncore record --folded -e imc/cas_count.rd,period=10000/ "
		     "-d 5 -o stacks.folded");
	option events = command.add_option(
		"-e,--event", o->events,
		"Events; period= says how many make a sample");

	events.one_value();
	command.add_flag("-a,--all-cpus", o->all_cpus,
			 "No effect: all CPUs are sampled");
	command.add_flag("-g,--call-graph", o->chains,
			 "Samples with their call chains, by frame pointers");
	const option folded = command.add_flag(
		"--folded", o->folded,
		"Stacks as flame-graph tools read them, instead of samples");
	const option period =
		command.add_option("-c,--period", o->period,
				   "For events without period= (100000)")
			.range(uint64_t{1}, uint64_t{1} << 46);
	const option frequency =
		command.add_option("-F,--freq", o->frequency,
				   "Samples a second, instead of a period")
			.range(1, 100000)
			.excludes(period);
	const option cpus =
		command.add_option(
			       "-C,--cpu", o->cpus,
			       "CPUs to sample (all of the events' sockets)")
			.delimiter(',')
			.one_value()
			.range(0, 65535);
	const option output =
		command.add_option("-o,--output", o->output,
				   "The file (perf.data; standard output with "
				   "--folded)")
			.not_empty();
	option series = command.add_option(
		"--series", o->series,
		"Count what uncore serve does, for serve --replay, and sample "
		"nothing");

	series.type_name("FILE");
	for (const option &other :
	     {events, folded, period, frequency, cpus, output})
		series.excludes(other);
	add_time_options(command, o->run);
}

} // namespace cli
