// SPDX-License-Identifier: GPL-2.0-or-later
// What stat and metric share of the way from the command line to the counters.
#include "counting/count_options.hpp"

#include <fmt/format.h>

namespace cli {

void add_count_options(parser &command, count_options &options)
{
	add_run_options(command, options.run);
	add_format(command, options.form);
	add_output(command, options.output);
}

uncore::result<std::unique_ptr<measurement>> start(const context &shared,
						   count_options &options)
{
	if (options.timeout_ms)
		options.run.duration = options.timeout_ms / 1000.0;
	if (!options.separator.empty())
		options.form = format::csv;
	// Where no time is given, and no command: a second.
	if (options.run.command.empty() && !options.run.duration &&
	    !options.run.interval_ms)
		options.run.duration = 1;

	auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return machine.error();
	return std::make_unique<measurement>(*std::move(machine));
}

uncore::result<void> open(measurement &wanted, const count_options &options,
			  sink &to)
{
	if (wanted.empty())
		return uncore::error{
			uncore::errc::unsupported,
			fmt::format("{}: {}",
				    wanted.missing().front().info->name,
				    wanted.missing().front().reason)};
	if (auto opened =
		    to.open(options.output,
			    options.append ? output_file::content::append
					   : output_file::content::replace);
	    !opened)
		return opened;
	return wanted.open(options.packages);
}

report_options form_of(const count_options &options,
		       std::vector<uncore::scope> scopes, std::string_view set,
		       run_means *means)
{
	return {options.form,
		options.run.interval_ms > 0,
		std::move(scopes),
		std::string(set),
		options.separator.empty() ? "," : options.separator,
		options.metric_only,
		means};
}

} // namespace cli
