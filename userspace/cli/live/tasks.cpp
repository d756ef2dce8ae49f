// SPDX-License-Identifier: GPL-2.0-or-later
// The tasks of uncore live.
#include "live/tasks.hpp"

#include "attribution/top_columns.hpp"

namespace cli {

namespace {

/// Both columns together.
uncore::result<top_metric> all_traffic(const top_settings &columns)
{
	auto sum = uncore::expression::parse("(read + write) / duration_time");

	if (!sum)
		return sum.error();

	top_metric metric{"memory",
			  *std::move(sum),
			  {},
			  columns.columns[0].scale,
			  columns.columns[0].unit};

	if (!metric.unit.empty())
		metric.unit += "/s";
	for (const auto &term : metric.expression.terms()) {
		top_metric::operand from;

		for (size_t c = 0; c < columns.columns.size(); c++)
			if (columns.columns[c].name == term.name)
				from.column = c;
		metric.operands.push_back(std::move(from));
	}
	return metric;
}

} // namespace

uncore::result<void> live_tasks::try_start(const std::filesystem::path &sysfs)
{
	auto machine = uncore::topology::read(sysfs);
	attribution_options options;
	top_settings columns;

	if (!machine)
		return machine.error();
	machine_ = *std::move(machine);
	if (auto added = add_columns({reads_and_writes}, {}, *machine_,
				     options.columns, columns);
	    !added)
		return added;

	auto both = all_traffic(columns);

	if (!both)
		return both.error();
	columns.metrics.push_back(*std::move(both));
	columns_ = std::move(columns);

	auto started = attribution::start(std::move(options), *machine_);

	if (!started)
		return started.error();
	programs_ = *std::move(started);
	return {};
}

void live_tasks::start(const std::filesystem::path &sysfs)
{
	const auto started = try_start(sysfs);

	problem_ = started ? "" : started.error().message;
}

void live_tasks::stop(std::string why)
{
	programs_.reset();
	last_.reset();
	problem_ = std::move(why);
}

void live_tasks::tend()
{
	if (!programs_)
		return;
	if (const auto done = programs_->tend(); !done)
		stop(done.error().message);
}

void live_tasks::take()
{
	if (!programs_)
		return;

	auto taken = programs_->take();

	if (taken)
		last_ = *std::move(taken);
	else
		stop(taken.error().message);
}

} // namespace cli
