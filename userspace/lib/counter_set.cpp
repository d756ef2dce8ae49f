// SPDX-License-Identifier: LGPL-2.1-or-later
// Counter set: the events and metrics that the caller added as text, and their
// values.  A value is of a scope: of one box, of one package or of the machine.
// The values of an event are rows; each row has the counters whose counts it
// adds up.  metric.cpp computes the values of metrics.
#include <uncore/counter_set.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>

#include "account.hpp"
#include "backend.hpp"
#include "format.hpp"
#include "metric.hpp"
#include "perf_events.hpp"
#include "plan.hpp"
#include "text.hpp"

namespace uncore {

using std::chrono::nanoseconds;

/// Members behind the accessors of the public class, which has their meaning.
struct counted_value::record {
	size_t index;
	std::string_view name, unit;
	const pmu_info *pmu;
	int package;
	const metric_info *metric;
	const uncore::event *first_event;
	double value, error, share;
	uint64_t raw;
	nanoseconds enabled, running;
	std::string reason;
};

struct unavailable_metric::record {
	const metric_info *info;
	std::string reason;
};

namespace {

/// Row of an event: its value for one box, one package or the machine is the
/// sum of the counters.
struct event_value {
	size_t index; ///< counted_value::index()
	const event_term *term;
	const pmu_info *pmu;		  ///< nullptr except for scope::box
	int package;			  ///< -1 for scope::machine
	std::vector<counter_at> counters; ///< none for duration_time
	sum_set sum{};			  ///< set with one sum, of the counters
	/// Boxes without a counter: they did not answer when the counters were
	/// opened.
	std::vector<const box_health *> absent{};
};

error not_open()
{
	return {errc::misuse, "the counters are not open"};
}

/// Pairs of perf's and the catalogue's metric names. For IO, perf and the
/// catalogue name opposite directions: the catalogue, as the manual, the access
/// to memory, perf the access by the device.
constexpr std::pair<std::string_view, std::string_view> perf_metrics[] = {
	{"DRAM_BW_Use", "mem_bw_total_rate"},
	{"memory_bandwidth_read", "mem_bw_reads_rate"},
	{"memory_bandwidth_write", "mem_bw_writes_rate"},
	{"memory_bandwidth_total", "mem_bw_total_rate"},
	{"qpi_data_transmit_bw", "qpi_data_bw_rate"},
	{"io_bandwidth_read", "io_write_bw_rate"},
	{"io_bandwidth_write", "io_read_bw_rate"},
};

/// Find the metric of a name, or all metrics of a group.
std::vector<const metric_info *> named(std::string_view name,
				       const catalogue &names)
{
	for (const auto &[perf_metric, metric] : perf_metrics)
		if (same_name(name, perf_metric))
			name = metric;
	if (const metric_info *info = names.metric(name))
		return {info};
	return names.metrics_of_group(name);
}

error no_metric(std::string_view name, const catalogue &names)
{
	const auto nearest = names.nearest_metrics(name);

	return {errc::not_found,
		uncore::format("no metric or group of metrics {}{}{}",
			       quote(name),
			       nearest.empty() ? "" : "; the nearest: ",
			       join(nearest))};
}

} // namespace

struct counter_set::state {
	explicit state(const topology &on) : machine(on), planning(on) {}

	topology machine;
	/// Plan of all added events and metrics; open() finishes a copy, so
	/// that more can be added after close().
	planner planning;
	std::deque<event_group> groups;
	/// For each group, the positions of its events in the plan.
	std::deque<planner::places> places;
	std::deque<metric> metrics;
	/// Metrics that the last add_metrics() left out.
	std::deque<unavailable_metric::record> lacking;
	/// The open session; none before open() and after close().
	std::optional<session> counts;
	/// Rows of the open session, by scope.
	std::array<std::vector<event_value>, 3> rows;

	result<void> may_add() const
	{
		if (counts)
			return error{errc::misuse,
				     "the counters are open already"};
		return {};
	}
	size_t terms() const
	{
		size_t n = 0;

		for (const event_group &group : groups)
			n += group.terms.size();
		return n;
	}
	/// Metrics of one add_metrics(), which adds all of them or, after an
	/// error, none: prepare() collects them here first.
	struct addition {
		planner planning;
		std::vector<metric> metrics;
		std::vector<unavailable_metric::record> lacking;
	};
	result<void> prepare(std::string_view name, addition &added) const;
	void watch(scope where);
	event_value &row_at(size_t first, const event_value &value,
			    scope where);
	void add_rows(size_t index, const event_term &term,
		      const std::vector<counter_id> &ids, scope where);
	counted_value::record value_of(const event_value &row,
				       period when) const;
	result<void> without_lost(result<void> outcome) const;
};

result<std::vector<const metric_info *>> find_metrics(const topology &machine,
						      std::string_view list)
{
	const catalogue &names = catalogue::of(machine);
	std::vector<const metric_info *> metrics;

	for (std::string_view name : split(list, ',')) {
		const auto matches = named(trim(name), names);

		if (matches.empty())
			return no_metric(trim(name), names);
		metrics.insert(metrics.end(), matches.begin(), matches.end());
	}
	return metrics;
}

result<void> check_available(const event_info &info, const topology &machine)
{
	std::string text = uncore::format("{}/{}", info.box, info.name);

	for (std::string_view parameter : info.parameters)
		text += uncore::format(",{}=0", parameter);

	auto parsed = parse_events(text + '/', machine);

	if (!parsed)
		return parsed.error();
	return {};
}

result<void> check_available(const metric_info &info, const topology &machine)
{
	planner planning(machine);
	auto ready = metric::prepare(info, machine, planning);

	if (!ready)
		return ready.error();
	return {};
}

// --- views

counted_value::counted_value(std::shared_ptr<const record> record)
	: record_(std::move(record))
{
}

size_t counted_value::index() const
{
	return record_->index;
}

std::string_view counted_value::name() const
{
	return record_->name;
}

std::string_view counted_value::unit() const
{
	return record_->unit;
}

const pmu_info *counted_value::pmu() const
{
	return record_->pmu;
}

int counted_value::package() const
{
	return record_->package;
}

const metric_info *counted_value::metric() const
{
	return record_->metric;
}

const event *counted_value::first_event() const
{
	return record_->first_event;
}

double counted_value::value() const
{
	return record_->value;
}

double counted_value::standard_error() const
{
	return record_->error;
}

double counted_value::share() const
{
	return record_->share;
}

uint64_t counted_value::raw() const
{
	return record_->raw;
}

nanoseconds counted_value::enabled() const
{
	return record_->enabled;
}

nanoseconds counted_value::running() const
{
	return record_->running;
}

std::string_view counted_value::reason() const
{
	return record_->reason;
}

unavailable_metric::unavailable_metric(const record *record) : record_(record)
{
}

const metric_info &unavailable_metric::info() const
{
	return *record_->info;
}

std::string_view unavailable_metric::reason() const
{
	return record_->reason;
}

// --- adding

counter_set::counter_set(const topology &machine)
	: state_(std::make_unique<state>(machine))
{
}

counter_set::counter_set(counter_set &&) noexcept = default;
counter_set &counter_set::operator=(counter_set &&) noexcept = default;
counter_set::~counter_set() = default;

const topology &counter_set::machine() const
{
	return state_->machine;
}

result<void> counter_set::add_events(std::string_view list)
{
	auto parsed = parse_events(list, state_->machine);

	if (!parsed)
		return parsed.error();
	return add_events(*parsed);
}

result<void> counter_set::add_events(std::span<const event_group> groups)
{
	if (auto checked = state_->may_add(); !checked)
		return checked;

	planner planning = state_->planning;
	std::vector<planner::places> places;

	for (const event_group &group : groups) {
		auto placed = planning.add(group);

		if (!placed)
			return placed.error();
		places.push_back(*std::move(placed));
	}
	state_->planning = std::move(planning);
	state_->groups.insert(state_->groups.end(), groups.begin(),
			      groups.end());
	std::move(places.begin(), places.end(),
		  std::back_inserter(state_->places));
	return {};
}

/// Prepare a metric, or all metrics of a group. Metrics of a group that the
/// machine does not support are left out, with the reason in added.lacking; it
/// is an error if no metric is left.
result<void> counter_set::state::prepare(std::string_view name,
					 addition &added) const
{
	const catalogue &names = catalogue::of(machine);
	const auto infos = named(name, names);
	const size_t before = added.metrics.size();
	std::optional<error> failure;

	if (infos.empty())
		return no_metric(name, names);
	for (const metric_info *info : infos) {
		planner planning = added.planning;
		auto ready = metric::prepare(*info, machine, planning);

		if (ready) {
			added.planning = std::move(planning);
			added.metrics.push_back(*std::move(ready));
			continue;
		}
		added.lacking.push_back({info, ready.error().message});
		failure = ready.error();
	}
	if (added.metrics.size() == before)
		return *failure;
	return {};
}

result<void> counter_set::add_metrics(std::string_view names)
{
	if (auto checked = state_->may_add(); !checked)
		return checked;

	state::addition added{state_->planning, {}, {}};

	for (std::string_view name : split(names, ','))
		if (auto outcome = state_->prepare(trim(name), added); !outcome)
			return outcome;
	state_->planning = std::move(added.planning);
	for (metric &ready : added.metrics)
		state_->metrics.push_back(std::move(ready));
	state_->lacking.assign(added.lacking.begin(), added.lacking.end());
	return {};
}

result<void> counter_set::add_metric(const metric_info &info)
{
	if (auto checked = state_->may_add(); !checked)
		return checked;

	planner planning = state_->planning;
	auto ready = metric::prepare(info, state_->machine, planning);

	if (!ready)
		return ready.error();
	state_->planning = std::move(planning);
	state_->metrics.push_back(*std::move(ready));
	return {};
}

unsigned counter_set::turns() const
{
	planner planning = state_->planning;

	return std::move(planning).finish().turns;
}

size_t counter_set::size() const
{
	return state_->terms() + state_->metrics.size();
}

std::vector<unavailable_metric> counter_set::unavailable() const
{
	std::vector<unavailable_metric> list;

	for (const auto &record : state_->lacking)
		list.push_back(unavailable_metric(&record));
	return list;
}

// --- counting

/// Find or add the row of an event for the box and package of @p value, or for
/// the larger scope that they belong to.
/// @param first index of the event's first row.
event_value &counter_set::state::row_at(size_t first, const event_value &value,
					scope where)
{
	std::vector<event_value> &list = rows[size_t(where)];
	event_value key = value;

	if (where == scope::machine)
		key.package = -1;
	if (where != scope::box)
		key.pmu = nullptr;

	const auto row = std::find_if(list.begin() + ptrdiff_t(first),
				      list.end(), [&](const event_value &v) {
					      return v.package == key.package &&
						     v.pmu == key.pmu;
				      });

	return row != list.end() ? *row : list.emplace_back(std::move(key));
}

/// Make the rows of an event, one for each box, for each package or for the
/// machine, and put its counters into them. An absent box has no counter; its
/// row names it as the reason for a missing or incomplete value.
/// @param ids positions of the term's events in the plan.
void counter_set::state::add_rows(size_t index, const event_term &term,
				  const std::vector<counter_id> &ids,
				  scope where)
{
	std::vector<event_value> &list = rows[size_t(where)];
	const size_t first = list.size();

	for (size_t e = 0; e < ids.size(); e++) {
		event_value value{index, &term, term.events[e].pmu, -1, {}};

		for (size_t c = 0; c < counts->cpus(ids[e]).size(); c++) {
			value.package = counts->package(ids[e], c);
			row_at(first, value, where)
				.counters.push_back({ids[e], c});
		}
		for (const box_health &box : counts->health(period::total)) {
			if (!box.pmu || box.pmu != value.pmu ||
			    box.condition != condition::absent)
				continue;
			value.package = box.package;
			row_at(first, value, where).absent.push_back(&box);
		}
	}
	// duration_time has no counters, but a row.
	if (ids.empty())
		list.push_back({index, &term, nullptr, -1, {}});
	std::stable_sort(list.begin() + ptrdiff_t(first), list.end(),
			 [](const event_value &a, const event_value &b) {
				 return a.package < b.package;
			 });
}

/// Register the sums for the values of a scope with the session.
void counter_set::state::watch(scope where)
{
	size_t index = 0;

	rows[size_t(where)].clear();
	for (size_t g = 0; g < groups.size(); g++)
		for (size_t t = 0; t < groups[g].terms.size(); t++)
			add_rows(index++, groups[g].terms[t], places[g][t],
				 where);
	// A set of its own for each row: no function of several rows needs an
	// error.
	for (event_value &row : rows[size_t(where)])
		if (!row.counters.empty())
			row.sum = counts->add_up({&row.counters, 1});
	for (metric &m : metrics)
		m.watch(*counts, where);
}

result<void> open_counters(counter_set &counters,
			   const session_options &options,
			   std::shared_ptr<counter_backend> backend)
{
	counter_set::state &s = *counters.state_;

	if (auto checked = s.may_add(); !checked)
		return checked;
	if (!counters.size())
		return error{errc::misuse,
			     "nothing was added that could be counted"};

	planner planning = s.planning;
	auto opened = open_session(std::move(planning).finish(), s.machine,
				   options, std::move(backend));

	if (!opened)
		return opened.error();
	s.counts.emplace(*std::move(opened));
	for (scope where : {scope::box, scope::package, scope::machine})
		s.watch(where);
	return {};
}

nanoseconds charge_account(const counter_set &counters, account &charged,
			   int package)
{
	return counters.state_->counts->charge(charged, package);
}

void show_account(counter_set &counters, const account &shown, nanoseconds time)
{
	counters.state_->counts->show(shown, time);
}

result<void> counter_set::open(const session_options &options)
{
	return open_counters(*this, options, std::make_shared<perf_events>());
}

bool counter_set::is_open() const
{
	return state_->counts.has_value();
}

void counter_set::close()
{
	state_->counts.reset();
}

result<void> counter_set::enable()
{
	return state_->counts ? state_->counts->enable() : not_open();
}

result<void> counter_set::disable()
{
	return state_->counts ? state_->counts->disable() : not_open();
}

/// Drop the error of a read that lost a box or a CPU: news() names the loss. If
/// no other box is left, reading fails, so that a program's loop ends.
result<void> counter_set::state::without_lost(result<void> outcome) const
{
	std::vector<const box_health *> boxes;

	if (!outcome && outcome.error().code != errc::gone)
		return outcome;
	for (const box_health &box : counts->health(period::total)) {
		if (box.measured())
			return {};
		boxes.push_back(&box);
	}
	if (boxes.empty())
		return {};
	return error{errc::gone,
		     "no box or CPU is left to count: " + reason_of(boxes)};
}

result<void> counter_set::read()
{
	return state_->counts ? state_->without_lost(state_->counts->read())
			      : not_open();
}

result<void> counter_set::sample()
{
	return state_->counts ? state_->without_lost(state_->counts->sample())
			      : not_open();
}

nanoseconds counter_set::sample_time() const
{
	return state_->counts ? state_->counts->sample_time() : nanoseconds();
}

std::vector<std::string> counter_set::news()
{
	return state_->counts ? state_->counts->news()
			      : std::vector<std::string>();
}

/// Make the value of a row from the session's last read.
counted_value::record counter_set::state::value_of(const event_value &row,
						   period when) const
{
	const event &first = row.term->events.front();
	std::string_view unit = first.unit;
	std::vector<const box_health *> boxes = row.absent;
	count reading;

	for (const counter_at &c : row.counters)
		boxes.push_back(&counts->health(c.counter, c.cpu_index, when));

	if (first.type == event::duration_time && unit.empty())
		unit = "ns";
	// A row without counters is of absent boxes, or of duration_time.
	if (row.counters.empty() && !row.absent.empty()) {
		reading.value = std::nan("");
	} else if (!row.counters.empty()) {
		reading = when == period::interval
				  ? counts->interval(row.sum, 0)
				  : counts->total(row.sum, 0);
	} else {
		reading.enabled = reading.running =
			when == period::interval ? counts->interval_time()
						 : counts->total_time();
		reading.raw = uint64_t(reading.enabled.count());
		reading.value = double(reading.raw);
	}
	return {row.index,
		row.term->name,
		unit,
		row.pmu,
		row.package,
		nullptr,
		&first,
		reading.value * first.scale,
		reading.error * first.scale,
		reading.share(),
		reading.raw,
		reading.enabled,
		reading.running,
		reason_of(boxes)};
}

std::vector<counted_value> counter_set::values(scope where, period when) const
{
	std::vector<counted_value> list;
	const auto add = [&](counted_value::record &&record) {
		list.push_back(counted_value(
			std::make_shared<const counted_value::record>(
				std::move(record))));
	};

	if (!state_->counts)
		return list;
	for (const event_value &row : state_->rows[size_t(where)])
		add(state_->value_of(row, when));

	size_t index = state_->terms();

	for (const metric &m : state_->metrics) {
		const metric_info &info = m.info();

		for (const metric_value &v :
		     m.evaluate(*state_->counts, when, where))
			add({index,
			     info.name,
			     info.unit,
			     v.pmu,
			     v.package,
			     &info,
			     nullptr,
			     v.value,
			     v.error,
			     v.share,
			     0,
			     v.time,
			     {},
			     v.reason});
		index++;
	}
	return list;
}

nanoseconds counter_set::elapsed(period when) const
{
	if (!state_->counts)
		return {};
	return when == period::interval ? state_->counts->interval_time()
					: state_->counts->total_time();
}

bool counter_set::was_multiplexed() const
{
	return state_->counts && state_->counts->was_multiplexed();
}

} // namespace uncore
