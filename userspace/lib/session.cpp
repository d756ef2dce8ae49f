// SPDX-License-Identifier: LGPL-2.1-or-later
// A counting session: which descriptor is read into which words, and what has
// been counted between reads.
#include <uncore/session.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "backend.hpp"
#include "estimate.hpp"

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

/// Fewer reads than this are not worth going there.
constexpr size_t worth_a_visit = 4;

} // namespace

struct session::state {
	const plan *what;
	std::shared_ptr<counter_backend> backend;
	std::vector<group_place> groups;
	std::vector<unit> units;
	std::vector<stop> tour;
	/// What the last read gave, and the one before.
	std::vector<uint64_t> now, before;
	std::vector<estimator> estimators;
	nanoseconds started{}, read_at{}, read_before{};
	bool counting = false, multiplexed = false;

	void add_units(uint32_t group, const topology &machine);
	void plan_tour(const topology &machine);
	void read_stop(const stop &where, std::vector<const unit *> &lost);
	stratum between(const unit &u, uint32_t member) const;
	bool read_unit(unit &u);
	void account(const unit &u);
	error gone(const std::vector<const unit *> &lost) const;
	const unit &unit_of(counter_id id, size_t cpu_index) const
	{
		return units[groups[id.group].first_unit + cpu_index];
	}
};

count &count::operator+=(const count &other)
{
	value += other.value;
	if (other.error != 0)
		error = std::hypot(error, other.error);
	raw += other.raw;
	enabled += other.enabled;
	running += other.running;
	return *this;
}

session::session(std::unique_ptr<state> opened) : state_(std::move(opened)) {}
session::session(session &&) noexcept = default;
session &session::operator=(session &&) noexcept = default;
session::~session() = default;

void session::state::add_units(uint32_t group, const topology &machine)
{
	const counter_group &wanted = what->groups[group];
	group_place place{{}, {}, units.size()};

	place.cpus = wanted.pmu && !wanted.pmu->cpus.empty()
			     ? wanted.pmu->cpus
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

void session::state::plan_tour(const topology &machine)
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

result<session> session::open(const plan &what, const topology &machine,
			      std::shared_ptr<counter_backend> backend)
{
	auto made = std::make_unique<state>();

	made->what = &what;
	made->backend = backend ? std::move(backend) : kernel_backend();
	for (uint32_t i = 0; i < what.groups.size(); i++) {
		made->add_units(i, machine);

		auto opened = made->backend->open(what.groups[i],
						  made->groups.back().cpus);

		if (!opened)
			return opened.error();
	}
	made->before = made->now;
	made->plan_tour(machine);
	return session(std::move(made));
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
	       backend->now() - read_before < std::chrono::milliseconds(1);
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

error session::state::gone(const std::vector<const unit *> &lost) const
{
	const unit &first = *lost.front();
	const event &e = what->groups[first.group].members.front();
	std::string who = e.pmu ? e.pmu->name : e.text;

	if (lost.size() > 1)
		who += fmt::format(" and {} more", lost.size() - 1);
	return {errc::gone,
		fmt::format("CPU {} {}: what {} count{} there is lost",
			    first.cpu,
			    backend->is_online(first.cpu)
				    ? "was offline for a while"
				    : "went offline",
			    who, lost.size() > 1 ? "" : "s")};
}

void session::state::read_stop(const stop &where,
			       std::vector<const unit *> &lost)
{
	if (tour.size() > 1 && where.units.size() >= worth_a_visit)
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
	if (s.tour.size() > 1)
		s.backend->leave();
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
