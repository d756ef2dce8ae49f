// SPDX-License-Identifier: LGPL-2.1-or-later
// A counting session: which descriptor is read into which words, and what has
// been counted between reads.
#include <uncore/session.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend.hpp"
#include "estimate.hpp"
#include "format.hpp"
#include "options.hpp"

namespace uncore {

using std::chrono::nanoseconds;

namespace {

/// Words before the values in what a group's read gives.
enum { number_word, enabled_word, running_word, value_word };

/// A group on one CPU: what one system call reads.
struct unit {
	uint32_t group, cpu_index, members;
	int cpu;
	size_t words;	   ///< where its words are
	size_t estimators; ///< where its members' estimators are
	bool gone = false;
};

/// A group's CPUs and their packages; its units are in a row.
struct group_place {
	std::vector<int> cpus, packages;
	size_t first_unit;
};

/// The units of a package, which are read from one of its CPUs.
struct stop {
	int package;
	std::vector<int> cpus;
	std::vector<uint32_t> units;
};

/// Sums that are added up at each read.
struct watched_sums {
	std::vector<std::vector<counter_at>> counters;
	sum_estimator estimator;
};

/// Fewer reads than this are not worth going there.
constexpr size_t worth_a_visit = 4;

/// For how long a counter may stand still unnoticed, beside a hundredth of the
/// interval: reads take their time.
constexpr nanoseconds may_lag = std::chrono::milliseconds(1);

} // namespace

struct session::state {
	state(plan planned, const topology &on, const session_options &wanted,
	      std::shared_ptr<counter_backend> counters)
		: what(std::move(planned)), machine(on), options(wanted),
		  backend(std::move(counters))
	{
	}

	plan what;
	topology machine;
	session_options options;
	std::shared_ptr<counter_backend> backend;
	std::vector<group_place> groups;
	std::vector<unit> units;
	std::vector<stop> tour;
	/// What the last read gave, and the one before.
	std::vector<uint64_t> now, before;
	std::vector<estimator> estimators;
	std::vector<watched_sums> sums;
	nanoseconds started{}, read_at{}, read_before{};
	bool counting = false, multiplexed = false;
	std::vector<uint32_t> lagging;	///< units, in the last read
	std::vector<uint64_t> words;	///< of one unit, for look_again()

	void add_units(uint32_t group);
	void plan_tour();
	void read_stop(const stop &where, std::vector<const unit *> &lost);
	bool lags(const unit &u) const;
	bool goes_on(const unit &u);
	void look_again(std::vector<const unit *> &lost);
	stratum between(const unit &u, uint32_t member) const;
	bool read_unit(unit &u);
	void account(const unit &u);
	void add_up();
	stratum between(counter_at c) const
	{
		return between(unit_of(c.counter, c.cpu_index),
			       c.counter.member);
	}
	uncore::error gone(const std::vector<const unit *> &lost) const;
	const unit &unit_of(counter_id id, size_t cpu_index) const
	{
		return units[groups[id.group].first_unit + cpu_index];
	}
};

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

void session::state::add_units(uint32_t group)
{
	const counter_group &wanted = what.groups[group];
	group_place place{{}, {}, units.size()};

	place.cpus = wanted.pmu && !wanted.pmu->cpus.empty() ? wanted.pmu->cpus
							     : machine.cpus();
	for (uint32_t i = 0; i < place.cpus.size(); i++) {
		uint32_t members = wanted.members.size();

		place.packages.push_back(machine.package_of(place.cpus[i]));
		units.push_back({group, i, members, place.cpus[i], now.size(),
				 estimators.size()});
		now.resize(now.size() + value_word + members);
		estimators.resize(estimators.size() + members);
	}
	groups.push_back(std::move(place));
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

result<session> open_session(plan what, const topology &machine,
			     const session_options &options,
			     std::shared_ptr<counter_backend> backend)
{
	auto made = std::make_unique<session::state>(
		std::move(what), machine, complete_options(options),
		std::move(backend));

	for (uint32_t i = 0; i < made->what.groups.size(); i++) {
		made->add_units(i);

		auto opened = made->backend->open(made->what.groups[i],
						  made->groups.back().cpus);

		if (!opened)
			return opened.error();
	}
	made->before = made->now;
	made->plan_tour();
	return session(std::move(made));
}

result<session> session::open(plan what, const topology &machine,
			      const session_options &options)
{
	return open_session(std::move(what), machine, options,
			    kernel_backend());
}

result<void> session::enable()
{
	state_->started = state_->read_at = state_->backend->now();
	for (uint32_t i = 0; i < state_->groups.size(); i++)
		if (auto done = state_->backend->enable(i); !done)
			return done;
	state_->counting = true;
	return {};
}

result<void> session::disable()
{
	result<void> outcome;

	state_->counting = false;
	for (uint32_t i = 0; i < state_->groups.size(); i++)
		if (auto done = state_->backend->disable(i); !done)
			outcome = done;
	return outcome;
}

/// @return false when it can no longer be read, or has stood still though it
/// should count: its CPU went offline.
bool session::state::read_unit(unit &u)
{
	std::span<uint64_t> words(&now[u.words], value_word + u.members);
	const uint64_t *last = &before[u.words];
	int64_t size = backend->read(u.group, u.cpu_index, words);

	if (size != int64_t(words.size_bytes()) ||
	    words[number_word] != u.members) {
		std::copy(last, last + words.size(), words.begin());
		return false;
	}
	// The first read right after enable() may see no time pass.
	return !counting || words[enabled_word] != last[enabled_word] ||
	       backend->now() - read_before < may_lag;
}

/// Has it counted for less than the time that passed?  So does one whose CPU went
/// offline in between; or it was only read early this time, or late before.
bool session::state::lags(const unit &u) const
{
	const nanoseconds passed = read_at - read_before;
	const nanoseconds enabled(now[u.words + enabled_word] -
				  before[u.words + enabled_word]);

	return counting &&
	       passed - enabled > std::max(may_lag, passed / 100);
}

bool session::state::goes_on(const unit &u)
{
	words.resize(value_word + u.members);
	return backend->read(u.group, u.cpu_index, words) ==
		       int64_t(words.size() * sizeof(uint64_t)) &&
	       words[enabled_word] != now[u.words + enabled_word];
}

/// There may be no next read() to see that a counter stands still.
void session::state::look_again(std::vector<const unit *> &lost)
{
	if (lagging.empty())
		return;
	backend->wait(may_lag);
	for (uint32_t i : lagging)
		if (!goes_on(units[i])) {
			units[i].gone = true;
			lost.push_back(&units[i]);
		}
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

uncore::error session::state::gone(const std::vector<const unit *> &lost) const
{
	const unit &first = *lost.front();
	const event &e = what.groups[first.group].members.front();
	std::string who = e.pmu ? e.pmu->name : e.text;

	if (lost.size() > 1)
		who += uncore::format(" and {} more", lost.size() - 1);
	return {errc::gone,
		uncore::format("CPU {} {}: what {} count{} there is lost",
			       first.cpu,
			       backend->is_online(first.cpu)
				       ? "was offline for a while"
				       : "went offline",
			       who, lost.size() > 1 ? "" : "s")};
}

void session::state::read_stop(const stop &where,
			       std::vector<const unit *> &lost)
{
	if (options.visit_packages && tour.size() > 1 &&
	    where.units.size() >= worth_a_visit)
		backend->visit(where.cpus);
	for (uint32_t i : where.units) {
		unit &u = units[i];

		if (u.gone) {
			std::copy_n(&before[u.words], value_word + u.members,
				    &now[u.words]);
			continue;
		}
		if (!read_unit(u)) {
			u.gone = true;
			lost.push_back(&u);
		} else if (lags(u)) {
			lagging.push_back(i);
		}
		account(u);
	}
}

result<void> session::read()
{
	state &s = *state_;
	std::vector<const unit *> lost;

	std::swap(s.now, s.before);
	s.read_before = s.read_at;
	s.read_at = s.backend->now();
	for (const stop &where : s.tour)
		s.read_stop(where, lost);
	if (s.options.visit_packages && s.tour.size() > 1)
		s.backend->leave();
	s.look_again(lost);
	s.add_up();
	if (!lost.empty())
		return s.gone(lost);
	return {};
}

std::span<const int> session::cpus(counter_id id) const
{
	return state_->groups[id.group].cpus;
}

int session::package(counter_id id, size_t cpu_index) const
{
	return state_->groups[id.group].packages[cpu_index];
}

static count count_of(const stratum &s, double value, double error)
{
	return {value, error, s.raw, nanoseconds(s.enabled),
		nanoseconds(s.running)};
}

count session::interval(counter_id id, size_t cpu_index) const
{
	const unit &u = state_->unit_of(id, cpu_index);
	const estimator &known = state_->estimators[u.estimators + id.member];
	stratum s = state_->between(u, id.member);
	double value = s.running ? s.value() : s.enabled ? std::nan("") : 0;

	return count_of(s, value, known.error_of(s));
}

count session::total(counter_id id, size_t cpu_index) const
{
	const unit &u = state_->unit_of(id, cpu_index);
	const estimator &known = state_->estimators[u.estimators + id.member];

	return count_of(known.all(), known.value(), known.error());
}

/// For each sum, the first one that is counted in the same groups on the same
/// CPUs.
static std::vector<size_t>
counted_together(std::span<const std::vector<counter_at>> sums)
{
	auto same = [](const std::vector<counter_at> &a,
		       const std::vector<counter_at> &b) {
		return std::equal(a.begin(), a.end(), b.begin(), b.end(),
				  [](const counter_at &x, const counter_at &y) {
					  return x.counter.group ==
							 y.counter.group &&
						 x.cpu_index == y.cpu_index;
				  });
	};
	std::vector<size_t> first;

	for (const auto &sum : sums)
		first.push_back(std::find_if(sums.begin(), sums.end(),
					     [&](const auto &other) {
						     return same(sum, other);
					     }) -
				sums.begin());
	return first;
}

sum_set session::add_up(std::span<const std::vector<counter_at>> sums)
{
	std::vector<size_t> counters;

	for (const auto &sum : sums)
		counters.push_back(sum.size());
	state_->sums.push_back(
		{{sums.begin(), sums.end()},
		 sum_estimator(counters, counted_together(sums))});
	return {uint32_t(state_->sums.size() - 1)};
}

void session::state::add_up()
{
	for (watched_sums &set : sums) {
		for (size_t s = 0; s < set.counters.size(); s++)
			for (size_t c = 0; c < set.counters[s].size(); c++)
				set.estimator.add(s, c,
						  between(set.counters[s][c]));
		set.estimator.flush();
	}
}

double session::error(sum_set sums, std::span<const double> gradient,
		      uncore::period when) const
{
	const watched_sums &set = state_->sums[sums.index];

	if (when == period::total)
		return set.estimator.error(gradient);
	return set.estimator.error_of(gradient, [&](size_t s, size_t c) {
		return state_->between(set.counters[s][c]);
	});
}

/// The sum of its counters' counts, with the error of the whole.
static count sum_of(const session &from,
		    const std::vector<counter_at> &counters, sum_set sums,
		    size_t index, size_t size, period when)
{
	std::vector<double> gradient(size);
	count all;

	for (const counter_at &c : counters)
		all += when == period::interval
			       ? from.interval(c.counter, c.cpu_index)
			       : from.total(c.counter, c.cpu_index);
	gradient[index] = 1;
	all.error = all.error > 0 ? from.error(sums, gradient, when) : 0;
	return all;
}

count session::interval(sum_set sums, size_t index) const
{
	const auto &counters = state_->sums[sums.index].counters;

	return sum_of(*this, counters[index], sums, index, counters.size(),
		      period::interval);
}

count session::total(sum_set sums, size_t index) const
{
	const auto &counters = state_->sums[sums.index].counters;

	return sum_of(*this, counters[index], sums, index, counters.size(),
		      period::total);
}

nanoseconds session::interval_time() const
{
	return state_->read_at - state_->read_before;
}

nanoseconds session::total_time() const
{
	return state_->read_at - state_->started;
}

bool session::was_multiplexed() const
{
	return state_->multiplexed;
}

} // namespace uncore
