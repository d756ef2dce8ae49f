// SPDX-License-Identifier: GPL-2.0-or-later
#include "attribution/cgroup_stat.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include "attribution/attribution.hpp"
#include "attribution/cgroup_counts.hpp"
#include "attribution/cgroup_report.hpp"
#include "counting/run.hpp"
#include "output/message.hpp"

namespace cli {

using clock = std::chrono::steady_clock;

/// Time between two calls of attribution::tend().
static constexpr unsigned tend_ms = 50;
/// Longest time between two accounts.  The path of a cgroup is looked up when an
/// account is taken; a cgroup that was removed before has no path any more.
static constexpr std::chrono::seconds account_time{1};

namespace {

/// A run of uncore stat, from the start of attribution's programs to the last account.
class cgroup_run {
public:
	cgroup_run(measurement &counting, const cgroup_plan &plan,
		   cgroup_counts &counts, cgroup_report &report,
		   unsigned resolution_us)
		: counting_(counting), plan_(plan), counts_(counts),
		  report_(report), resolution_(resolution_us)
	{
	}

	/// @return the exit status.
	int run();

private:
	uncore::result<void> start();
	bool take();
	bool tend();
	bool tick(bool last);

	measurement &counting_;
	const cgroup_plan &plan_;
	cgroup_counts &counts_;
	cgroup_report &report_;
	const std::chrono::microseconds resolution_;
	std::unique_ptr<attribution> programs_;
	uncore::result<void> outcome_;
	clock::time_point last_account_;
	bool printed_ = true;
};

} // namespace

uncore::result<void> cgroup_run::start()
{
	attribution_options options;

	options.columns = plan_.columns;
	options.resolution = resolution_;

	auto started = attribution::start(std::move(options),
					  counting_.counters().machine());

	if (!started)
		return started.error();
	programs_ = *std::move(started);
	last_account_ = clock::now();
	return {};
}

bool cgroup_run::take()
{
	const auto account = programs_->take();

	if (!account) {
		outcome_ = account.error();
		return false;
	}
	last_account_ = clock::now();
	for (const std::string &warning : account->warnings)
		note(warning);
	counts_.add(*account);
	return true;
}

bool cgroup_run::tend()
{
	outcome_ = programs_->tend();
	if (!outcome_)
		return false;
	return clock::now() - last_account_ < account_time || take();
}

bool cgroup_run::tick(bool last)
{
	if (last)
		programs_->stop();
	if (!outcome_ || !take())
		return false;
	if (last)
		counts_.end();
	printed_ = report_.print(last);
	counts_.begin_interval();
	return printed_ && !last;
}

int cgroup_run::run()
{
	const count_options &options = counting_.options();
	run_hooks hooks;

	hooks.enable = [this] { return start(); };
	hooks.poll = [this] { return tend(); };
	hooks.poll_ms = tend_ms;
	hooks.tick = [this](bool last) { return tick(last); };
	hooks.progress = true;

	const run_end ended = cli::run(options.run, hooks);

	if (!ended)
		return fail(ended);
	if (!outcome_)
		return fail(outcome_.error());
	for (const std::string &loss : counts_.losses())
		note(loss);
	if (const std::string missed = counts_.missed_line();
	    !missed.empty() && options.form == format::human &&
	    !options.as_perf())
		note(missed);
	return printed_ ? ended.status() : failure;
}

int count_cgroups(const context &shared, count_options &counting,
		  const cgroup_stat_options &options)
{
	auto opened = measurement::open(shared, counting);

	if (!opened)
		return fail(opened.error());

	const uncore::topology &machine = (*opened)->counters().machine();
	cgroup_names names;
	const auto plan = plan_cgroups(options.request, machine, names);

	if (!plan)
		return fail(plan.error());
	if (auto output = (*opened)->open_output(); !output)
		return fail(output.error());

	cgroup_counts counts(*plan, machine, (*opened)->sockets(), names);
	cgroup_report report(**opened, *plan, counts, options.per_socket);

	return cgroup_run(**opened, *plan, counts, report,
			  options.resolution_us)
		.run();
}

} // namespace cli
