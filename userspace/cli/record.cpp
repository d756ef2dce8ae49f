// SPDX-License-Identifier: GPL-2.0-or-later
// uncore record: where the traffic comes from, as folded stacks.
#include "cli.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>

#include "counting.hpp"
#include "stacks.hpp"

namespace cli {

struct record_options {
	run_options run;
	std::vector<std::string> events;
	std::vector<int> cpus;
	std::string output;
	uint64_t period = 100000;
	bool folded = false;
};

/// How often processes are looked at, before they are gone.
static constexpr unsigned look_ms = 50;

static uncore::result<std::vector<uncore::event>>
events_of(const record_options &options, const uncore::topology &machine)
{
	std::vector<uncore::event> events;

	for (const auto &text : options.events) {
		auto groups = uncore::parse_events(text, machine);

		if (!groups)
			return groups.error();
		for (const auto &group : *groups)
			for (const auto &term : group.terms)
				events.insert(events.end(), term.events.begin(),
					      term.events.end());
	}
	for (const auto &event : events)
		if (event.type == uncore::event::duration_time)
			return uncore::error{uncore::errc::invalid,
					     event.text + ": cannot sample"};
	return events;
}

static uncore::result<void> write_folded(const stack_report &report,
					 const std::string &path)
{
	std::ofstream file;

	if (!path.empty())
		file.open(path, std::ios::trunc);
	std::ostream &out = path.empty() ? std::cout : file;

	for (const auto &[stack, count] : report.folded)
		out << stack << ' ' << count << '\n';
	out.flush();
	if (!out)
		return uncore::error{
			uncore::errc::system,
			fmt::format("{}: {}",
				    path.empty() ? "standard output" : path,
				    std::strerror(errno))};
	return {};
}

static void say_samples(const stack_report &report)
{
	fmt::print(stderr, "uncore: {} samples in {} stacks{}{}\n",
		   report.samples, report.folded.size(),
		   report.lost ? fmt::format(", {} lost", report.lost) : "",
		   report.lost_stacks ? fmt::format(", {} stacks not kept",
						    report.lost_stacks)
				      : "");
}

static int record(const record_options &options, const context &shared)
{
	if (!options.folded)
		return fail_usage("record writes --folded stacks; for a "
				  "perf.data file there is perf record -e with "
				  "the same events");
	auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return fail(machine.error());
	auto events = events_of(options, *machine);

	if (!events)
		return fail(events.error());
	std::unique_ptr<stack_counter> counter;
	run_hooks hooks;

	hooks.enable = [&]() -> uncore::result<void> {
		auto started = stack_counter::start(*events, options.cpus,
						    options.period);

		if (!started)
			return started.error();
		counter = std::move(*started);
		return {};
	};
	hooks.tick = [&](bool last) {
		if (last)
			counter->stop();
		counter->tend();
		return true;
	};
	hooks.read_ms = look_ms;
	auto status = run(options.run, hooks);

	if (!status)
		return fail(status.error());
	auto report = counter->report();

	if (!report)
		return fail(report.error());
	auto written = write_folded(*report, options.output);

	if (!written)
		return fail(written.error());
	say_samples(*report);
	return *status;
}

void add_record(CLI::App &app, context &shared)
{
	auto o = std::make_shared<record_options>();
	auto *command =
		add_command(app, shared, "record",
			    "Count the stacks at which events overflow",
			    [o, &shared] { return record(*o, shared); });

	command->add_option("-e,--event", o->events,
			    "Events; period= says how many make a sample")
		->required()
		->allow_extra_args(false);
	command->add_flag("--folded", o->folded,
			  "Stacks as flame-graph tools read them, counted in "
			  "the kernel");
	command->add_option("-c,--period", o->period,
			    "For events without period= (100000)")
		->check(CLI::Range(uint64_t{1}, uint64_t{1} << 46));
	command->add_option("-C,--cpu", o->cpus,
			    "CPUs whose tasks are sampled (one a package)")
		->delimiter(',')
		->allow_extra_args(false)
		->check(CLI::Range(0, 65535));
	command->add_option("-o,--output", o->output,
			    "A file to write to, not standard output");
	add_run_options(*command, o->run);
}

} // namespace cli
