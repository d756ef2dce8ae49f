// SPDX-License-Identifier: GPL-2.0-or-later
// The one way of stat and metric, from the command line to the last number.
#include "common/count.hpp"

namespace cli {

void add_count_options(parser &command, count_options &options)
{
	add_run_options(command, options.run);
	add_format(command, options.form);
	add_output(command, options.output);
}

/// Where no time is given, and no command: a second.
static void count_a_second_by_default(run_options &options)
{
	if (options.command.empty() && !options.duration &&
	    !options.interval_ms)
		options.duration = 1;
}

int count(const context &shared, count_options &options,
	  const count_hooks &hooks)
{
	if (options.timeout_ms)
		options.run.duration = options.timeout_ms / 1000.0;
	if (!options.separator.empty())
		options.form = format::csv;
	if (options.append && options.output.empty())
		return fail_usage("--append is for -o FILE");
	count_a_second_by_default(options.run);

	auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return fail(machine.error());

	measurement wanted(*std::move(machine));
	sink to;

	if (auto chosen = hooks.choose(wanted); !chosen)
		return fail(chosen.error());
	if (wanted.empty())
		return fail(fmt::format("{}: {}",
					wanted.missing().front().info->name,
					wanted.missing().front().reason));
	if (auto opened =
		    to.open(options.output,
			    options.append ? output_file::content::append
					   : output_file::content::replace);
	    !opened)
		return fail(opened.error());
	if (auto opened = wanted.open(); !opened)
		return fail(opened.error());

	const auto printer = hooks.lay_out(
		wanted,
		{options.form,
		 options.run.interval_ms > 0,
		 {},
		 {},
		 options.separator.empty() ? "," : options.separator,
		 options.metric_only},
		to);

	return wanted.run(options.run,
			  [&](bool last) { return printer->print(last); });
}

} // namespace cli
