// SPDX-License-Identifier: GPL-2.0-or-later
// uncore check: checks whether this machine is ready to count uncore events;
// with --hardware, whether its boxes do what the manual says.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <uncore/topology.hpp>

#include "checks/hardware.hpp"
#include "checks/readiness.hpp"
#include "commands/commands.hpp"
#include "output/message.hpp"
#include "terminal/colour.hpp"

namespace cli {

namespace {

struct check_options {
	machine_folders folders;
	format form = format::human;
	bool hardware = false;
	std::string report;
};

int check_boxes(const check_options &options, const uncore::topology &machine)
{
	std::optional<output_file> report;

	// Create the report before the check, which takes half a minute.
	if (!options.report.empty()) {
		auto file = output_file::create(options.report, 0644);

		if (!file)
			return fail(file.error());
		report.emplace(*std::move(file));
	}
	const hardware_results results = check_hardware(machine);
	if (report) {
		const auto written = write_report(*report, options.folders,
						  machine, results);

		if (!written)
			return fail(written.error());
	}
	const bool passed = none_bad(results.findings);
	print(results.findings, options.form, machine,
	      passed ? "The boxes do what the manual says, as far as this check sees."
		     : bold(stdout,
			    "Some boxes do not do what the manual says."));
	if (!options.report.empty() && options.form == format::human)
		fmt::print(
			"The report is in {}; it names no host and no address.\n",
			options.report);
	return passed ? success : failure;
}

int check(const context &shared, const check_options &options)
{
	if (!options.report.empty() && !options.hardware)
		return fail_usage("--report is for --hardware");
	if (options.hardware && shared.sysfs != "/sys")
		return fail_usage(
			"--hardware is for this machine, not for a recorded one");
	const auto machine = uncore::topology::read(shared.sysfs);
	if (!machine)
		return fail(machine.error());
	if (options.hardware && machine->pmus().empty())
		return fail("no uncore PMU: uncore check says what to do");
	if (options.hardware)
		return check_boxes(options, *machine);

	const auto findings = check_readiness(options.folders, *machine);
	const bool ready = none_bad(findings);
	print(findings, options.form, *machine,
	      ready ? "This machine is ready."
		    : bold(stdout, "This machine is not ready."));
	return ready ? success : failure;
}

} // namespace

void add_check(parser &app, context &shared)
{
	auto options = std::make_shared<check_options>();
	parser command = add_command(
		app, shared, "check", "Say whether this machine is ready",
		[options, &shared] {
			options->folders.sys = shared.sysfs;
			return check(shared, *options);
		});

	add_examples(command, "uncore check",
		     "uncore check --hardware --report report.json");
	add_format(command, options->form);
	command.add_flag(
		"--hardware", options->hardware,
		"Count, sample and read memory for half a minute: do the boxes do what the manual says");
	command.add_option(
		       "--report", options->report,
		       "With --hardware: write all that was seen into this file, to be attached to an issue")
		.type_name("FILE");
	command.add_option("--proc", options->folders.proc,
			   "Where proc is mounted")
		.hidden();
	command.add_option("--modules", options->folders.modules,
			   "Where the kernels' modules are")
		.hidden();
}

} // namespace cli
