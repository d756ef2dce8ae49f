// SPDX-License-Identifier: LGPL-2.1-or-later
// A counting session: which descriptor is read into which words, and what has
// been counted between reads.
#include <algorithm>
#include <utility>
#include <vector>

#include "format.hpp"
#include "perf_events.hpp"
#include "session_state.hpp"
#include "sysfs.hpp"
#include "text.hpp"

namespace uncore {

using std::chrono::nanoseconds;

namespace {

/// Words before the values in what a group's read gives.
enum { number_word, enabled_word, running_word, value_word };

/// Fewer reads than this are not worth going there.
constexpr size_t worth_a_visit = 4;

/// Time for which a counter may be stopped unnoticed, beside a hundredth of the
/// interval: reads take time.
constexpr nanoseconds may_lag = std::chrono::milliseconds(1);

/// Time without a count after which a clock has stopped, where no other one runs.
constexpr nanoseconds stopped_after = std::chrono::milliseconds(100);

} // namespace

count &count::operator+=(const count &other)
{
	value += other.value;
	error += other.error;
	raw += other.raw;
	enabled += other.enabled;
	running += other.running;
	return *this;
}

session::session(std::unique_ptr<state> opened) : state_(std::move(opened)) {}
session::session(session &&) noexcept = default;
session &session::operator=(session &&) noexcept = default;
session::~session() = default;

static nanoseconds turn_of(const pmu_info *which)
{
	const auto text =
		which ? read_text(which->folder / "perf_event_mux_interval_ms")
		      : std::nullopt;
	const auto ms = text ? parse_number(*text) : std::nullopt;

	return ms && *ms && *ms < 1000 ? std::chrono::milliseconds(*ms)
				       : usual_turn;
}

void session::state::add_units(uint32_t group, box_watch::place where)
{
	const auto &members = what.groups[group].members;
	const auto clock = std::find_if(
		members.begin(), members.end(), [&](const event &e) {
			return is_clock(e, machine.generation());
		});

	for (uint32_t i = 0; i < where.cpus.size(); i++) {
		units.push_back({group, i, uint32_t(members.size()),
				 where.cpus[i], now.size(), estimators.size(),
				 where.boxes[i],
				 clock == members.end()
					 ? -1
					 : int(clock - members.begin())});
		now.resize(now.size() + value_word + members.size());
		estimators.resize(estimators.size() + members.size());
	}
	groups[group].cpus = std::move(where.cpus);
	groups[group].packages = std::move(where.packages);
	groups[group].first_unit = units.size() - where.boxes.size();
	groups[group].turn = turn_of(what.groups[group].pmu);
}

void session::state::plan_tour()
{
	for (const uncore::package &p : machine.packages())
		tour.push_back({p.id, p.cpus, {}});
	tour.push_back({-1, {}, {}});
	for (uint32_t i = 0; i < units.size(); i++) {
		int package = machine.package_of(units[i].cpu);

		for (stop &s : tour)
			if (s.package == package)
				s.units.push_back(i);
	}
	std::erase_if(tour, [](const stop &s) { return s.units.empty(); });
}

/// Boxes that do not answer are left out.
result<void> session::state::open_group(uint32_t group)
{
	const counter_group &wanted = what.groups[group];
	box_watch::place where = boxes.place_of(wanted.pmu);

	while (!where.cpus.empty()) {
		auto opened = backend->open(wanted, where.cpus);
		std::vector<int> silent;

		if (opened) {
			groups[group].opened = *opened;
			break;
		}
		if (opened.error().code == errc::gone ||
		    opened.error().code == errc::invalid)
			for (int cpu : where.cpus)
				if (!backend->answers(wanted.members.front(),
						      cpu))
					silent.push_back(cpu);
		// None takes it: the event is to blame.
		if (silent.empty() || (opened.error().code == errc::invalid &&
				       silent.size() == where.cpus.size()))
			return opened.error();
		boxes.leave_out(where, silent);
	}
	add_units(group, std::move(where));
	return {};
}

result<session> open_session(plan what, const topology &machine,
			     const session_options &options,
			     std::shared_ptr<counter_backend> backend)
{
	auto made = std::make_unique<session::state>(
		std::move(what), machine, complete_options(options),
		std::move(backend));

	made->groups.resize(made->what.groups.size());
	if (made->what.order.empty())
		for (uint32_t i = 0; i < made->what.groups.size(); i++)
			made->what.order.push_back(i);
	for (uint32_t group : made->what.order)
		if (auto opened = made->open_group(group); !opened)
			return opened.error();
	(void)made->report();
	if (made->units.empty() && !made->news.empty())
		return error{errc::gone, made->news.front()};
	made->before = made->now;
	made->plan_tour();
	return session(std::move(made));
}

result<session> session::open(plan what, const topology &machine,
			      const session_options &options)
{
	return open_session(std::move(what), machine, options,
			    std::make_shared<perf_events>());
}

result<void> session::enable()
{
	state_->started = state_->read_at = state_->interval_began =
		state_->backend->now();
	for (uint32_t group : state_->what.order) {
		const auto opened = state_->groups[group].opened;

		if (!opened)
			continue;
		if (auto done = state_->backend->enable(*opened); !done)
			return done;
	}
	state_->counting = true;
	return {};
}

result<void> session::disable()
{
	result<void> outcome;

	state_->counting = false;
	for (const auto &group : state_->groups) {
		if (!group.opened)
			continue;
		if (auto done = state_->backend->disable(*group.opened); !done)
			outcome = done;
	}
	return outcome;
}

/// @return false when it can no longer be read, or did not count though it
/// should: its CPU went offline.
bool session::state::read_unit(unit &u)
{
	std::span<uint64_t> words(&now[u.words], value_word + u.members);
	const uint64_t *last = &before[u.words];
	int64_t size = backend->read_group(*groups[u.group].opened, u.cpu_index,
					   words);

	if (size != int64_t(words.size_bytes()) ||
	    words[number_word] != u.members) {
		std::copy(last, last + words.size(), words.begin());
		return false;
	}
	// The first read right after enable() may see no time pass.
	return !counting || words[enabled_word] != last[enabled_word] ||
	       backend->now() - read_before < may_lag;
}

/// Has it counted for less than the time that passed?  So does one whose CPU
/// went offline in between; or it was only read early this time, or late
/// before.
bool session::state::lags(const unit &u) const
{
	const nanoseconds passed = read_at - read_before;
	const nanoseconds enabled(now[u.words + enabled_word] -
				  before[u.words + enabled_word]);

	return counting && passed - enabled > std::max(may_lag, passed / 100);
}

bool session::state::goes_on(const unit &u)
{
	words.resize(value_word + u.members);
	return backend->read_group(*groups[u.group].opened, u.cpu_index,
				   words) ==
		       int64_t(words.size() * sizeof(uint64_t)) &&
	       words[enabled_word] != now[u.words + enabled_word];
}

/// Read once more: there may be no next read() to find a stopped counter.
void session::state::look_again()
{
	if (lagging.empty())
		return;
	backend->wait(may_lag);
	for (uint32_t i : lagging)
		if (!goes_on(units[i]))
			lose(units[i], condition::offline);
	lagging.clear();
}

stratum session::state::between(const unit &u, uint32_t member) const
{
	const uint64_t *a = &before[u.words], *b = &now[u.words];

	return {b[value_word + member] - a[value_word + member],
		b[enabled_word] - a[enabled_word],
		b[running_word] - a[running_word]};
}

void session::state::account(const unit &u)
{
	for (uint32_t m = 0; m < u.members; m++) {
		stratum next = between(u, m);

		multiplexed |= next.running < next.enabled;
		estimators[u.estimators + m].add(next);
	}
}

void session::state::lose(unit &u, condition why)
{
	u.gone = true;
	boxes.worsen(u.box, why);
}

void session::state::read_stop(const stop &where)
{
	if (options.visit_packages && tour.size() > 1 &&
	    where.units.size() >= worth_a_visit)
		backend->visit(where.cpus);
	for (uint32_t i : where.units) {
		unit &u = units[i];

		if (u.gone)
			std::copy_n(&before[u.words], value_word + u.members,
				    &now[u.words]);
		else if (!read_unit(u))
			lose(u, condition::offline);
		else if (lags(u))
			lagging.push_back(i);
	}
}

/// A box that has died was counted until then: the time after it is not one in
/// which it had no counter.
void session::state::check_boxes()
{
	const auto lost = boxes.check();

	if (lost.empty())
		return;
	for (unit &u : units) {
		if (u.gone ||
		    std::find(lost.begin(), lost.end(), u.box) == lost.end())
			continue;
		u.gone = true;
		now[u.words + enabled_word] = before[u.words + enabled_word] +
					      (now[u.words + running_word] -
					       before[u.words + running_word]);
	}
}

/// Find clocks that have stopped while others of their type run, or while they
/// ran before.
void session::state::check_clocks()
{
	auto ticks = [&](const unit &u) {
		return u.clock >= 0 && !u.gone && between(u, u.clock).raw;
	};

	for (unit &u : units) {
		if (u.clock < 0 || u.gone)
			continue;

		const nanoseconds ran(between(u, u.clock).running);
		const counter_group &group = what.groups[u.group];

		if (ticks(u) || ran < may_lag) {
			u.ticked |= ticks(u);
			continue;
		}
		if ((u.ticked && ran >= stopped_after) ||
		    std::any_of(units.begin(), units.end(), [&](const unit &v) {
			    return ticks(v) && what.groups[v.group].pmu->box ==
						       group.pmu->box;
		    }))
			boxes.worsen(u.box, condition::stopped);
	}
}

/// @return an error where something was lost.
result<void> session::state::report()
{
	result<void> outcome;

	for (auto &line : boxes.news()) {
		if (line.what >= condition::dead && outcome)
			outcome = uncore::error{errc::gone, line.text};
		news.push_back(std::move(line.text));
	}
	return outcome;
}

void session::state::begin_interval()
{
	interval_began = read_at;
	for (estimator &one : estimators)
		one.begin_interval();
	for (watched_sums &set : sums)
		set.estimator.begin_interval();
	boxes.begin_interval();
}

void session::state::read_all()
{
	if (std::exchange(begins, false))
		begin_interval();
	std::swap(now, before);
	read_before = read_at;
	read_at = backend->now();
	for (const stop &where : tour)
		read_stop(where);
	if (options.visit_packages && tour.size() > 1)
		backend->leave();
	cost = backend->now() - read_at;
	check_boxes();
	look_again();
	check_clocks();
	for (const unit &u : units)
		account(u);
	add_up();
}

result<void> session::read()
{
	state_->read_all();
	state_->begins = true;
	return state_->report();
}

result<void> session::sample()
{
	state_->read_all();
	return state_->report();
}

} // namespace uncore
