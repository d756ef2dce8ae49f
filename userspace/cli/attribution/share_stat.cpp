// SPDX-License-Identifier: GPL-2.0-or-later
#include "attribution/share_stat.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "attribution/attribution_run.hpp"
#include "attribution/share_counts.hpp"
#include "counting/count_printer.hpp"
#include "output/message.hpp"

namespace cli {

/// Longest time between two accounts.  The path of a cgroup is looked up when an
/// account is taken; a cgroup that was removed before has no path any more.
static constexpr std::chrono::seconds account_time{1};

/// Find the command's cgroup, for --attribute --by cgroup: the cgroup of this program.
static uncore::result<void> find_command(share_plan &plan,
					 const attribution &programs,
					 cgroup_names &names)
{
	const std::string &path = names.path(programs.launcher_cgroup());

	if (path.empty() || path == "/")
		return uncore::error{
			uncore::errc::invalid,
			"--by cgroup: the command would run in the root cgroup, as uncore does: start uncore in a cgroup (systemd-run --scope uncore stat ...), or use --by tree"};
	for (counted_tasks &tasks : plan.tasks)
		if (tasks.type == counted_tasks::kind::command) {
			tasks.path = path;
			tasks.title = path;
		}
	names.remember(path);
	return {};
}

int count_shares(const context &shared, count_options &counting,
		 const share_stat_options &options)
{
	auto opened = measurement::open(shared, counting);

	if (!opened)
		return fail(opened.error());

	measurement &counted = **opened;
	const uncore::topology &machine = counted.counters().machine();
	cgroup_names names;
	auto plan = plan_shares(options.request, machine, names);

	if (!plan)
		return fail(plan.error());
	if (auto output = counted.open_output(); !output)
		return fail(output.error());

	share_counts counts(*plan, machine, counted.sockets(), names);
	const auto report =
		make_report(counted, counts, {.scope = options.aggregation});
	attribution_options attributed;
	attribution_hooks hooks;

	attributed.columns = plan->columns;
	attributed.by = plan->by;
	attributed.max_followed = options.max_tasks;
	attributed.resolution =
		std::chrono::microseconds(options.resolution_us);
	hooks.opened = [&](const attribution &programs) {
		return options.request.by_cgroup
			       ? find_command(*plan, programs, names)
			       : uncore::result<void>();
	};
	hooks.add = [&](const account &account) {
		for (const std::string &warning : account.warnings)
			note(warning);
		counts.add(account);
	};
	hooks.print = [&](bool last) {
		if (last)
			counts.end();

		const bool printed = report->print(last);

		counts.begin_interval();
		if (!last || !printed)
			return printed;
		for (const std::string &loss : counts.losses())
			note(loss);
		if (const std::string missed = counts.missed_line();
		    !missed.empty() && counting.form == format::human &&
		    !counting.as_perf())
			note(missed);
		return true;
	};
	hooks.account_time = account_time;
	hooks.progress = true;

	const run_end ended = run_attribution(
		counting.run, std::move(attributed), machine, hooks);

	return ended ? ended.status() : fail(ended);
}

} // namespace cli
