// SPDX-License-Identifier: GPL-2.0-or-later
// The tasks of uncore live.
#include "live/tasks.hpp"

#include "attribution/top_columns.hpp"

namespace cli {

namespace {

/// Make the metric of reads and writes together.
uncore::result<top_metric> memory_metric(const top_settings &columns)
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
		top_metric::operand operand;

		for (size_t c = 0; c < columns.columns.size(); c++)
			if (columns.columns[c].name == term.name)
				operand.column = c;
		metric.operands.push_back(std::move(operand));
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
	if (auto added = add_columns({reads_and_writes(*machine_)}, {},
				     *machine_, options.columns, columns);
	    !added)
		return added;

	auto metric = memory_metric(columns);

	if (!metric)
		return metric.error();
	columns.metrics.push_back(*std::move(metric));
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

void live_tasks::stop(std::string reason)
{
	programs_.reset();
	last_.reset();
	problem_ = std::move(reason);
}

void live_tasks::tend()
{
	if (!programs_)
		return;
	if (const auto outcome = programs_->tend(); !outcome)
		stop(outcome.error().message);
}

void live_tasks::take()
{
	if (!programs_)
		return;

	auto account = programs_->take();

	if (account)
		last_ = *std::move(account);
	else
		stop(account.error().message);
}

} // namespace cli
