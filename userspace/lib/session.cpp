// SPDX-License-Identifier: LGPL-2.1-or-later
// A counting session: open a plan's groups, read them, pass the growth between
// two reads to the estimators, and find boxes and CPUs that stopped counting.
// session_state.hpp introduces units, words and stops.
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

/// Indices of the words in the result of a group's read (PERF_FORMAT_GROUP):
/// number of events, time enabled, time running; the counts begin at
/// value_word.
enum { number_word, enabled_word, running_word, value_word };

/// Minimum number of groups in a package for which the reading thread migrates
/// to the package.  Without migration, each read interrupts a CPU of the
/// package; two migrations cost less than many interrupts.
constexpr size_t worth_a_visit = 4;

/// Lag of a unit: the time between two reads minus the growth of the unit's
/// enabled time.  A lag of more than this, and of more than a hundredth of the
/// time between the reads, may mean that the unit's CPU went offline.  Shorter
/// lags come from the reads themselves, which take time.
constexpr nanoseconds may_lag = std::chrono::milliseconds(1);

/// A box's clock that ran before has stopped if its event ran for this long
/// without a count.
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

/// Return the time after which perf exchanges the groups that count on a PMU.
static nanoseconds turn_of(const pmu_info *pmu)
{
	const auto text =
		pmu ? read_text(pmu->folder / "perf_event_mux_interval_ms")
		    : std::nullopt;
	const auto ms = text ? parse_number(*text) : std::nullopt;

	return ms && *ms && *ms < 1000 ? std::chrono::milliseconds(*ms)
				       : usual_turn;
}

/// Add a unit for each CPU on which a group is open, with room for its words
/// and estimators.
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

/// Sort the units by package: a read visits each package once.
void session::state::plan_tour()
{
	for (const uncore::package &p : machine.packages())
		tour.push_back({p.id, p.cpus, {}});
	// CPUs that came online after the topology was read have no package.
	tour.push_back({-1, {}, {}});
	for (uint32_t i = 0; i < units.size(); i++) {
		int package = machine.package_of(units[i].cpu);

		for (stop &s : tour)
			if (s.package == package)
				s.units.push_back(i);
	}
	std::erase_if(tour, [](const stop &s) { return s.units.empty(); });
}

/// Open a group on all CPUs of its place.  If that fails because boxes do not
/// answer, leave these boxes out and try again.
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
		// If all boxes answer, the error is that of the event.  If all
		// boxes refuse the event as invalid, they are not dead: the
		// event is invalid.
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
	// Boxes that do not answer are an error only if no box is left.
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

/// Read a unit's words.  After a failed read the words are those of the last
/// read.
/// @return false if the read fails, or if the enabled time of a counting unit
/// did not grow: perf removes the events of a CPU that goes offline.
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
	// A read soon after the last read, or after enable(), may find that no
	// time passed.
	return !counting || words[enabled_word] != last[enabled_word] ||
	       backend->now() - read_before < may_lag;
}

/// Check whether a unit was enabled for less than the time between the last two
/// reads.  Either the unit's CPU went offline, or this unit was read earlier in
/// this read than in the last one; recheck_lagging() finds out.
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

/// Read lagging units once more, after a pause: the enabled time of a unit on
/// an offline CPU does not grow.  The next read() would find that as well, but
/// this read may be the last one.
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

/// Return a counter's growth between the last two reads.
stratum session::state::between(const unit &u, uint32_t member) const
{
	const uint64_t *a = &previous_words[u.words],
		       *b = &latest_words[u.words];

	return {b[value_word + member] - a[value_word + member],
		b[enabled_word] - a[enabled_word],
		b[running_word] - a[running_word]};
}

/// Pass the growth of a unit's counters to their estimators.
void session::state::account(const unit &u)
{
	for (uint32_t m = 0; m < u.members; m++) {
		stratum next = between(u, m);

		multiplexed |= next.running < next.enabled;
		estimators[u.estimators + m].add(next);
	}
}

/// Mark a unit as lost, and report the condition of its box.
void session::state::lose(unit &u, condition cause)
{
	u.lost = true;
	boxes.worsen(u.box, cause);
}

/// Read the units of a package.  A lost unit keeps its words: it does not grow.
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

/// Mark the units of lost boxes.  In this read the unit was enabled for longer
/// than it ran, as for the time after the loss.  Set the growth of the enabled
/// time to that of the running time, so that the count is not scaled for this
/// time.
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

/// Find boxes whose clock has stopped: events that count the box's clock ran
/// without a count.  A clock that never ran is reported only while the clock of
/// another box of the same type runs.
void session::state::check_clocks()
{
	// Clock cycles that a unit counted since the last read.
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

/// Collect the lines about boxes for session::news().
/// @return the first error if a box or a CPU was lost.
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

/// Begin an interval at the time of the last read.
void session::state::begin_interval()
{
	interval_began = read_at;
	for (estimator &member : estimators)
		member.begin_interval();
	for (watched_sums &set : sums)
		set.estimator.begin_interval();
	boxes.begin_interval();
}

/// Read all units, check boxes, CPUs and clocks, and pass the growth since the
/// previous read to all estimators.
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
