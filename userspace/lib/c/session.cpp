// SPDX-License-Identifier: LGPL-2.1-or-later
// Counting in the C interface, uncore.h, on top of counter_set.
#include "c/session.hpp"

#include <iterator>
#include <span>

#include <uncore/version.hpp>

using namespace uncore;
using uncore::c::guarded;
using uncore::c::null_argument;

static_assert(int(scope::box) == UNCORE_BOX);
static_assert(int(scope::machine) == UNCORE_MACHINE);
static_assert(int(period::interval) == UNCORE_INTERVAL);
static_assert(int(period::total) == UNCORE_TOTAL);

const char *uncore_version(void)
{
	return uncore::version().data();
}

struct uncore_session *uncore_session_new(const char *sysfs)
{
	return uncore::c::make<uncore_session>(sysfs);
}

void uncore_session_free(struct uncore_session *session)
{
	delete session;
}

const char *uncore_session_error(const struct uncore_session *session)
{
	return session ? session->message.c_str() : "the session is NULL";
}

size_t uncore_session_packages(const struct uncore_session *session)
{
	return session && session->machine ? session->machine->packages().size()
					   : 0;
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
	return guarded(session, [&]() -> result<void> {
		if (!events)
			return null_argument("the list of events");
		return session->counters->add_events(events);
	});
}

int uncore_session_add_metrics(struct uncore_session *session,
			       const char *names)
{
	return guarded(session, [&]() -> result<void> {
		if (!names)
			return null_argument("the list of metrics");
		return session->counters->add_metrics(names);
	});
}

static bool has_package(const topology &machine, int id)
{
	return std::ranges::count(machine.packages(), id, &package::id) != 0;
}

int uncore_session_use_packages(struct uncore_session *session,
				const int *packages, size_t count)
{
	return guarded(session, [&]() -> result<void> {
		if (!packages && count)
			return null_argument("the list of packages");
		if (session->counters->is_open())
			return error{errc::misuse,
				     "the counters are open already"};
		const std::span<const int> ids(packages, count);

		for (const int id : ids)
			if (!has_package(*session->machine, id))
				return error{errc::not_found,
					     "this machine has no package " +
						     std::to_string(id)};
		session->packages.assign(ids.begin(), ids.end());
		return {};
	});
}

int uncore_session_open(struct uncore_session *session, unsigned int flags)
{
	return guarded(session, [&]() -> result<void> {
		if (flags & ~unsigned(UNCORE_VISIT_PACKAGES))
			return error{errc::invalid, "there is no such flag"};
		return session->counters->open(
			{.visit_packages = (flags & UNCORE_VISIT_PACKAGES) != 0,
			 .packages = session->packages});
	});
}

int uncore_session_close(struct uncore_session *session)
{
	return guarded(session, [&]() -> result<void> {
		session->values.clear();
		session->news.clear();
		session->counters->close();
		return {};
	});
}

int uncore_session_enable(struct uncore_session *session)
{
	return guarded(session, [&] { return session->counters->enable(); });
}

int uncore_session_disable(struct uncore_session *session)
{
	return guarded(session, [&] { return session->counters->disable(); });
}

int uncore_session_read(struct uncore_session *session)
{
	return guarded(session, [&] { return session->counters->read(); });
}

int uncore_session_sample(struct uncore_session *session)
{
	return guarded(session, [&] { return session->counters->sample(); });
}

const char *uncore_session_news(struct uncore_session *session)
{
	const char *text = nullptr;

	(void)guarded(session, [&]() -> result<void> {
		std::deque<std::string> &news = session->news;

		std::ranges::move(session->counters->news(),
				  std::back_inserter(news));
		if (news.empty())
			return {};
		session->line = std::move(news.front());
		news.pop_front();
		text = session->line.c_str();
		return {};
	});
	return text;
}

uint64_t uncore_session_sample_time(const struct uncore_session *session)
{
	if (!session || !session->counters)
		return 0;
	return uint64_t(session->counters->sample_time().count());
}

static bool is_period(enum uncore_period period)
{
	return period == UNCORE_INTERVAL || period == UNCORE_TOTAL;
}

uint64_t uncore_session_elapsed(const struct uncore_session *session,
				enum uncore_period period)
{
	if (!session || !session->counters || !is_period(period))
		return 0;
	return uint64_t(
		session->counters->elapsed(uncore::period(period)).count());
}

static uncore_value value_of(struct uncore_session &session,
			     const counted_value &v)
{
	auto text = [&](std::string_view content) {
		return session.value_texts.emplace_back(content).c_str();
	};

	return {.size = sizeof(uncore_value),
		.name = text(v.name()),
		.unit = text(v.unit()),
		.pmu = v.pmu() ? v.pmu()->name.c_str() : "",
		.package = v.package(),
		.is_metric = v.metric() != nullptr,
		.value = v.value(),
		.error = v.standard_error(),
		.running = v.share(),
		.raw = v.raw(),
		.reason = text(v.reason()),
		.index = v.index(),
		.enabled_time = uint64_t(v.enabled().count()),
		.running_time = uint64_t(v.running().count())};
}

size_t uncore_session_evaluate(struct uncore_session *session,
			       enum uncore_scope scope,
			       enum uncore_period period)
{
	if (!session)
		return 0;
	session->values.clear();
	session->value_texts.clear();
	(void)guarded(session, [&]() -> result<void> {
		if (scope < UNCORE_BOX || scope > UNCORE_MACHINE)
			return error{errc::invalid, "there is no such scope"};
		if (!is_period(period))
			return error{errc::invalid, "there is no such period"};
		for (const counted_value &v : session->counters->values(
			     uncore::scope(scope), uncore::period(period)))
			session->values.push_back(value_of(*session, v));
		return {};
	});
	return session->values.size();
}

int uncore_session_value(const struct uncore_session *session, size_t index,
			 struct uncore_value *value)
{
	return uncore::c::copy_out(session, &uncore_session::values, index,
				   value);
}
