// SPDX-License-Identifier: LGPL-2.1-or-later
// The C interface, uncore.h, over the C++ one.
#include <uncore/uncore.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include <uncore/metric.hpp>
#include <uncore/session.hpp>
#include <uncore/version.hpp>

#include "text.hpp"

using namespace uncore;

namespace {

/// Counters that make up one value of an event.
struct event_value {
	const event_term *term;
	scope where;
	int package;
	const uncore::pmu *pmu;
	std::vector<counter_at> counters;
	sum_set sum;
};

} // namespace

struct uncore_session {
	result<topology> machine;
	std::optional<planner> planning;
	std::vector<event_group> groups;
	std::vector<planner::places> places;
	std::vector<metric> metrics;
	std::optional<session> counts;
	std::vector<event_value> event_values;
	std::vector<uncore_value> values;
	/// Metrics' names and units are no C strings.
	std::vector<std::pair<std::string, std::string>> metric_texts;
	std::string message;

	explicit uncore_session(const char *sysfs)
		: machine(topology::read(sysfs ? sysfs : "/sys"))
	{
		if (machine)
			planning.emplace(*machine);
	}

	int fail(const error &failure)
	{
		message = failure.message;
		return int(failure.code) + 1;
	}
	int misuse(const char *what)
	{
		message = what;
		return UNCORE_MISUSE;
	}
	int check(const result<void> &done)
	{
		return done ? UNCORE_OK : fail(done.error());
	}
	/// Before open().
	int may_add()
	{
		if (!machine)
			return fail(machine.error());
		return planning ? UNCORE_OK
				: misuse("the session is open already");
	}

	int add_events(std::string_view text);
	int add_metric(const metric_info &info);
	int add_metrics(std::string_view names);
	int open(unsigned flags);
	void prepare(scope where);
	void add_counters(const event_term &term,
			  const std::vector<counter_id> &ids, scope where);
	void evaluate(scope where, period when);
};

static_assert(int(errc::invalid) + 1 == UNCORE_INVALID);
static_assert(int(errc::no_driver) + 1 == UNCORE_NO_DRIVER);
static_assert(int(errc::system) + 1 == UNCORE_SYSTEM);
static_assert(int(scope::box) == UNCORE_BOX);
static_assert(int(scope::machine) == UNCORE_MACHINE);
static_assert(int(period::total) == UNCORE_TOTAL);

int uncore_session::add_events(std::string_view text)
{
	if (int status = may_add())
		return status;

	auto parsed = parse_events(text, *machine);

	if (!parsed)
		return fail(parsed.error());
	for (event_group &group : *parsed) {
		auto placed = planning->add(group);

		if (!placed)
			return fail(placed.error());
		groups.push_back(std::move(group));
		places.push_back(*std::move(placed));
	}
	return UNCORE_OK;
}

int uncore_session::add_metric(const metric_info &info)
{
	auto ready = metric::prepare(info, *machine, *planning);

	if (!ready)
		return fail(ready.error());
	metrics.push_back(*std::move(ready));
	metric_texts.emplace_back(info.name, info.unit);
	return UNCORE_OK;
}

int uncore_session::add_metrics(std::string_view names)
{
	if (int status = may_add())
		return status;

	const catalogue &known = catalogue::of(*machine);

	for (std::string_view name : split(names, ',')) {
		name = trim(name);

		auto found = known.metrics_of_group(name);

		if (const metric_info *info = known.metric(name))
			found = {info};
		if (found.empty())
			return fail(
				{errc::not_found,
				 "no metric or group of metrics " +
					 quote(name) + "; the nearest: " +
					 join(known.nearest_metrics(name))});
		// Of a group, what this machine lacks is left out.
		int added = 0, status = UNCORE_OK;

		for (const metric_info *info : found) {
			const int failed = add_metric(*info);

			status = failed ? failed : status;
			added += !failed;
		}
		if (!added)
			return status;
		message.clear();
	}
	return UNCORE_OK;
}

/// An event's counters by place; those of another PMU may be there already.
void uncore_session::add_counters(const event_term &term,
				  const std::vector<counter_id> &ids,
				  scope where)
{
	const size_t first = event_values.size();

	for (size_t e = 0; e < ids.size(); e++)
		for (size_t c = 0; c < counts->cpus(ids[e]).size(); c++) {
			int package = where == scope::machine
					      ? -1
					      : counts->package(ids[e], c);
			const uncore::pmu *pmu = where == scope::box
							 ? term.events[e].pmu
							 : nullptr;
			auto found = std::find_if(
				event_values.begin() + first,
				event_values.end(), [&](const event_value &v) {
					return v.package == package &&
					       v.pmu == pmu;
				});

			if (found == event_values.end())
				found = event_values.insert(
					found,
					{&term, where, package, pmu, {}, {}});
			found->counters.push_back({ids[e], c});
		}
}

void uncore_session::prepare(scope where)
{
	const size_t first = event_values.size();

	for (size_t g = 0; g < groups.size(); g++)
		for (size_t t = 0; t < groups[g].terms.size(); t++)
			add_counters(groups[g].terms[t], places[g][t], where);
	for (size_t i = first; i < event_values.size(); i++)
		event_values[i].sum =
			counts->add_up({&event_values[i].counters, 1});
	for (metric &m : metrics)
		m.watch(*counts, where);
}

int uncore_session::open(unsigned flags)
{
	if (int status = may_add())
		return status;
	if (groups.empty() && metrics.empty())
		return misuse("nothing was added that could be counted");
	if (flags & ~unsigned(UNCORE_VISIT_PACKAGES))
		return misuse("there is no such flag");

	auto opened = session::open(
		std::move(*planning).finish(), *machine,
		{.visit_packages = (flags & UNCORE_VISIT_PACKAGES) != 0});

	planning.reset();
	if (!opened)
		return fail(opened.error());
	counts.emplace(*std::move(opened));
	for (scope where : {scope::box, scope::package, scope::machine})
		prepare(where);
	return UNCORE_OK;
}

void uncore_session::evaluate(scope where, period when)
{
	values.clear();
	if (!counts)
		return;
	for (const event_value &v : event_values) {
		if (v.where != where)
			continue;

		const event &kind = v.term->events.front();
		const count got = when == period::interval
					  ? counts->interval(v.sum, 0)
					  : counts->total(v.sum, 0);

		values.push_back(
			{sizeof(uncore_value), v.term->name.c_str(),
			 kind.unit.c_str(), v.pmu ? v.pmu->name.c_str() : "",
			 v.package, 0, got.value * kind.scale,
			 got.error * kind.scale, got.share(), got.raw});
	}
	for (size_t m = 0; m < metrics.size(); m++)
		for (const metric_value &v :
		     metrics[m].evaluate(*counts, when, where))
			values.push_back({sizeof(uncore_value),
					  metric_texts[m].first.c_str(),
					  metric_texts[m].second.c_str(),
					  v.pmu ? v.pmu->name.c_str() : "",
					  v.package, 1, v.value, v.error,
					  v.share, 0});
}

/// Runs @p call; no exception, for want of memory, gets out.
template <class F> static int guarded(struct uncore_session *session, F &&call)
{
	try {
		session->message.clear();
		return call();
	} catch (const std::exception &problem) {
		return session->misuse(problem.what());
	}
}

const char *uncore_version(void)
{
	return uncore::version().data();
}

struct uncore_session *uncore_session_new(const char *sysfs)
{
	try {
		return new uncore_session(sysfs);
	} catch (const std::exception &) {
		return nullptr;
	}
}

void uncore_session_free(struct uncore_session *session)
{
	delete session;
}

const char *uncore_session_error(const struct uncore_session *session)
{
	return session->message.c_str();
}

size_t uncore_session_packages(const struct uncore_session *session)
{
	return session->machine ? session->machine->packages().size() : 0;
}

int uncore_session_package(const struct uncore_session *session, size_t index)
{
	if (index >= uncore_session_packages(session))
		return -1;
	return session->machine->packages()[index].id;
}

int uncore_session_add_events(struct uncore_session *session,
			      const char *events)
{
	return guarded(session, [&] { return session->add_events(events); });
}

int uncore_session_add_metrics(struct uncore_session *session,
			       const char *names)
{
	return guarded(session, [&] { return session->add_metrics(names); });
}

int uncore_session_open(struct uncore_session *session, unsigned int flags)
{
	return guarded(session, [&] { return session->open(flags); });
}

int uncore_session_enable(struct uncore_session *session)
{
	return guarded(session, [&] {
		if (!session->counts)
			return session->misuse("the session is not open");
		return session->check(session->counts->enable());
	});
}

int uncore_session_disable(struct uncore_session *session)
{
	return guarded(session, [&] {
		if (!session->counts)
			return session->misuse("the session is not open");
		return session->check(session->counts->disable());
	});
}

int uncore_session_read(struct uncore_session *session)
{
	return guarded(session, [&] {
		if (!session->counts)
			return session->misuse("the session is not open");
		return session->check(session->counts->read());
	});
}

size_t uncore_session_evaluate(struct uncore_session *session,
			       enum uncore_scope scope,
			       enum uncore_period period)
{
	guarded(session, [&] {
		session->evaluate(uncore::scope(scope), uncore::period(period));
		return UNCORE_OK;
	});
	return session->values.size();
}

int uncore_session_value(const struct uncore_session *session, size_t index,
			 struct uncore_value *value)
{
	if (index >= session->values.size() || value->size < sizeof(size_t))
		return UNCORE_MISUSE;

	// A program of an older header has room for less.
	const size_t size = std::min(value->size, sizeof(*value));

	std::memcpy(value, &session->values[index], size);
	value->size = size;
	return UNCORE_OK;
}
