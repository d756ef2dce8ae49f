// SPDX-License-Identifier: GPL-2.0-or-later
#include "attribution/attribution_run.hpp"

#include <memory>
#include <utility>

namespace cli {

/// Time between two calls of attribution::tend(), and between two calls of the hook poll.
static constexpr unsigned tend_ms = 50;

namespace {

class attribution_run {
public:
	attribution_run(attribution_options options,
			const uncore::topology &machine,
			const attribution_hooks &hooks)
		: options_(std::move(options)), machine_(machine), hooks_(hooks)
	{
	}

	run_end run(const run_options &times);

private:
	using clock = std::chrono::steady_clock;

	uncore::result<void> open();
	uncore::result<void> enable();
	bool take();
	bool tend();
	bool tick(bool last);

	attribution_options options_;
	const uncore::topology &machine_;
	const attribution_hooks &hooks_;
	std::unique_ptr<attribution> programs_;
	uncore::result<void> outcome_;
	clock::time_point last_account_;
	bool printed_ = true;
};

uncore::result<void> attribution_run::open()
{
	auto opened = attribution::open(std::move(options_), machine_);

	if (!opened)
		return opened.error();
	programs_ = *std::move(opened);
	return hooks_.opened ? hooks_.opened(*programs_)
			     : uncore::result<void>();
}

uncore::result<void> attribution_run::enable()
{
	auto enabled = programs_->enable();

	last_account_ = clock::now();
	if (enabled && hooks_.enabled)
		hooks_.enabled();
	return enabled;
}

bool attribution_run::take()
{
	auto account = programs_->take();

	last_account_ = clock::now();
	if (account)
		hooks_.add(*std::move(account));
	else
		outcome_ = account.error();
	return bool(account);
}

bool attribution_run::tend()
{
	outcome_ = programs_->tend();
	if (!outcome_ || (hooks_.poll && !hooks_.poll()))
		return false;
	if (!hooks_.account_time.count() ||
	    clock::now() - last_account_ < hooks_.account_time)
		return true;
	return take();
}

bool attribution_run::tick(bool last)
{
	if (last)
		programs_->stop();
	if (!outcome_ || !take())
		return false;
	printed_ = hooks_.print(last);
	return printed_ && !last;
}

run_end attribution_run::run(const run_options &times)
{
	run_hooks hooks;

	hooks.prepare = [this] { return open(); };
	hooks.enable = [this] { return enable(); };
	hooks.poll = [this] { return tend(); };
	hooks.poll_ms = tend_ms;
	hooks.tick = [this](bool last) { return tick(last); };
	hooks.progress = hooks_.progress;

	const run_end ended = cli::run(times, hooks);

	if (!ended)
		return ended;
	if (!outcome_)
		return outcome_.error();
	return printed_ ? ended : run_end(failure);
}

} // namespace

run_end run_attribution(const run_options &times,
			attribution_options options,
			const uncore::topology &machine,
			const attribution_hooks &hooks)
{
	return attribution_run(std::move(options), machine, hooks).run(times);
}

} // namespace cli
