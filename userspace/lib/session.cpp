// SPDX-License-Identifier: LGPL-2.1-or-later
// A counting session: read descriptors into words, and account the counts
// between reads.
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

/// Words before the values in the result of a group's read.
enum { number_word, enabled_word, running_word, value_word };

/// Minimum number of reads for which the thread migrates to a package.
constexpr size_t worth_a_visit = 4;

/// Longest unchecked lag of a counter, or a hundredth of the interval if
/// longer: reads take time.
constexpr nanoseconds may_lag = std::chrono::milliseconds(1);

/// Time without a count after which a clock has stopped, if no other clock
/// runs.
constexpr nanoseconds stopped_after = std::chrono::milliseconds(100);

} // namespace

count &count::operator+=(const count &addend)
{
	value += addend.value;
	error += addend.error;
	raw += addend.raw;
	enabled += addend.enabled;
	running += addend.running;
	return *this;
}

session::session(std::unique_ptr<state> opened) : state_(std::move(opened)) {}
session::session(session &&) noexcept = default;
session &session::operator=(session &&) noexcept = default;
session::~session() = default;

static nanoseconds turn_of(const pmu_info *pmu)
{
	const auto text =
		pmu ? read_text(pmu->folder / "perf_event_mux_interval_ms")
		    : std::nullopt;
	const auto ms = text ? parse_number(*text) : std::nullopt;

	return ms && *ms && *ms < 1000 ? std::chrono::milliseconds(*ms)
				       : usual_turn;
}

void session::state::add_units(uint32_t group, box_watch::place place)
{
	const auto &members = group_plan.groups[group].members;
	const auto clock = std::find_if(
		members.begin(), members.end(), [&](const event &e) {
			return is_clock(e, machine.generation());
		});

	for (uint32_t i = 0; i < place.cpus.size(); i++) {
		units.push_back({group, i, uint32_t(members.size()),
				 place.cpus[i], latest_words.size(),
				 estimators.size(), place.boxes[i],
				 clock == members.end()
					 ? -1
					 : int(clock - members.begin())});
		latest_words.resize(latest_words.size() + value_word +
				    members.size());
		estimators.resize(estimators.size() + members.size());
	}
	groups[group].cpus = std::move(place.cpus);
	groups[group].packages = std::move(place.packages);
	groups[group].first_unit = units.size() - place.boxes.size();
	groups[group].turn = turn_of(group_plan.groups[group].pmu);
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

/// Open a group, without the boxes that do not answer.
result<void> session::state::open_group(uint32_t group)
{
	const counter_group &group_to_open = group_plan.groups[group];
	box_watch::place place = boxes.place_of(group_to_open.pmu);

	while (!place.cpus.empty()) {
		auto opened = backend->open(group_to_open, place.cpus);
		std::vector<int> silent;

		if (opened) {
			groups[group].opened = *opened;
			break;
		}
		if (opened.error().code == errc::gone ||
		    opened.error().code == errc::invalid)
			for (int cpu : place.cpus)
				if (!backend->answers(
					    group_to_open.members.front(), cpu))
					silent.push_back(cpu);
		// Every box refuses the event: report the event's error.
		if (silent.empty() || (opened.error().code == errc::invalid &&
				       silent.size() == place.cpus.size()))
			return opened.error();
		boxes.leave_out(place, silent);
	}
	add_units(group, std::move(place));
	return {};
}

result<session> open_session(plan group_plan, const topology &machine,
			     const session_options &options,
			     std::shared_ptr<counter_backend> backend)
{
	auto session_state = std::make_unique<session::state>(
		std::move(group_plan), machine, complete_options(options),
		std::move(backend));

	session_state->groups.resize(session_state->group_plan.groups.size());
	if (session_state->group_plan.order.empty())
		for (uint32_t i = 0;
		     i < session_state->group_plan.groups.size(); i++)
			session_state->group_plan.order.push_back(i);
	for (uint32_t group : session_state->group_plan.order)
		if (auto opened = session_state->open_group(group); !opened)
			return opened.error();
	(void)session_state->report();
	if (session_state->units.empty() && !session_state->news.empty())
		return error{errc::gone, session_state->news.front()};
	session_state->previous_words = session_state->latest_words;
	session_state->plan_tour();
	return session(std::move(session_state));
}

result<session> session::open(plan group_plan, const topology &machine,
			      const session_options &options)
{
	return open_session(std::move(group_plan), machine, options,
			    std::make_shared<perf_events>());
}

result<void> session::enable()
{
	state_->started = state_->read_at = state_->interval_began =
		state_->backend->now();
	for (uint32_t group : state_->group_plan.order) {
		const auto opened = state_->groups[group].opened;

		if (!opened)
			continue;
		if (auto outcome = state_->backend->enable(*opened); !outcome)
			return outcome;
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
		if (auto stopped = state_->backend->disable(*group.opened);
		    !stopped)
			outcome = stopped;
	}
	return outcome;
}

/// Read a unit.
/// @return false if the read fails or an enabled unit did not count: the unit's
/// CPU went offline.
bool session::state::read_unit(unit &u)
{
	std::span<uint64_t> words(&latest_words[u.words],
				  value_word + u.members);
	const uint64_t *last = &previous_words[u.words];
	int64_t size = backend->read_group(*groups[u.group].opened, u.cpu_index,
					   words);

	if (size != int64_t(words.size_bytes()) ||
	    words[number_word] != u.members) {
		std::copy(last, last + words.size(), words.begin());
		return false;
	}
	// The first read right after enable() may find that no time passed.
	return !counting || words[enabled_word] != last[enabled_word] ||
	       backend->now() - read_before < may_lag;
}

/// Check whether a unit counted for less than the time that passed.  The unit's
/// CPU went offline in between, or this read was early or the last one late.
bool session::state::is_lagging(const unit &u) const
{
	const nanoseconds passed = read_at - read_before;
	const nanoseconds enabled(latest_words[u.words + enabled_word] -
				  previous_words[u.words + enabled_word]);

	return counting && passed - enabled > std::max(may_lag, passed / 100);
}

/// Read a unit once more, and check whether its enabled time advances.
bool session::state::is_running(const unit &u)
{
	words.resize(value_word + u.members);
	return backend->read_group(*groups[u.group].opened, u.cpu_index,
				   words) ==
		       int64_t(words.size() * sizeof(uint64_t)) &&
	       words[enabled_word] != latest_words[u.words + enabled_word];
}

/// Read lagging units again: a next read() may never come.
void session::state::recheck_lagging()
{
	if (lagging.empty())
		return;
	backend->wait(may_lag);
	for (uint32_t i : lagging)
		if (!is_running(units[i]))
			lose(units[i], condition::offline);
	lagging.clear();
}

stratum session::state::between(const unit &u, uint32_t member) const
{
	const uint64_t *a = &previous_words[u.words],
		       *b = &latest_words[u.words];

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

void session::state::lose(unit &u, condition cause)
{
	u.lost = true;
	boxes.worsen(u.box, cause);
}

void session::state::read_stop(const stop &package_stop)
{
	if (options.visit_packages && tour.size() > 1 &&
	    package_stop.units.size() >= worth_a_visit)
		backend->visit(package_stop.cpus);
	for (uint32_t i : package_stop.units) {
		unit &u = units[i];

		if (u.lost)
			std::copy_n(&previous_words[u.words],
				    value_word + u.members,
				    &latest_words[u.words]);
		else if (!read_unit(u))
			lose(u, condition::offline);
		else if (is_lagging(u))
			lagging.push_back(i);
	}
}

/// Mark units of lost boxes.  Their enabled time ends with their running time:
/// scaling must not take the time after the loss for multiplexing.
void session::state::check_boxes()
{
	const auto lost_boxes = boxes.check();

	if (lost_boxes.empty())
		return;
	for (unit &u : units) {
		if (u.lost || std::find(lost_boxes.begin(), lost_boxes.end(),
					u.box) == lost_boxes.end())
			continue;
		u.lost = true;
		latest_words[u.words + enabled_word] =
			previous_words[u.words + enabled_word] +
			(latest_words[u.words + running_word] -
			 previous_words[u.words + running_word]);
	}
}

/// Find stopped clocks: clocks that ran in an earlier read, and clocks that
/// stop while another clock of the same box type runs.
void session::state::check_clocks()
{
	auto ticks = [&](const unit &u) {
		return u.clock >= 0 && !u.lost && between(u, u.clock).raw;
	};

	for (unit &u : units) {
		if (u.clock < 0 || u.lost)
			continue;

		const nanoseconds ran(between(u, u.clock).running);
		const counter_group &group = group_plan.groups[u.group];

		if (ticks(u) || ran < may_lag) {
			u.clock_ran |= ticks(u);
			continue;
		}
		if ((u.clock_ran && ran >= stopped_after) ||
		    std::any_of(units.begin(), units.end(), [&](const unit &v) {
			    return ticks(v) &&
				   group_plan.groups[v.group].pmu->box ==
					   group.pmu->box;
		    }))
			boxes.worsen(u.box, condition::stopped);
	}
}

/// Collect the news of the boxes.  @return an error if a box or a CPU was lost.
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
	for (estimator &member : estimators)
		member.begin_interval();
	for (watched_sums &set : sums)
		set.estimator.begin_interval();
	boxes.begin_interval();
}

void session::state::read_all()
{
	if (std::exchange(interval_ended, false))
		begin_interval();
	std::swap(latest_words, previous_words);
	read_before = read_at;
	read_at = backend->now();
	for (const stop &package_stop : tour)
		read_stop(package_stop);
	if (options.visit_packages && tour.size() > 1)
		backend->leave();
	cost = backend->now() - read_at;
	check_boxes();
	recheck_lagging();
	check_clocks();
	for (const unit &u : units)
		account(u);
	add_up();
}

result<void> session::read()
{
	state_->read_all();
	state_->interval_ended = true;
	return state_->report();
}

result<void> session::sample()
{
	state_->read_all();
	return state_->report();
}

} // namespace uncore
