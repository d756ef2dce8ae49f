// SPDX-License-Identifier: LGPL-2.1-or-later
// Listing events and metrics by the C interface, uncore.h.
#include "c/session.hpp"

#include "text.hpp"

using namespace uncore;
using uncore::c::copy_out;
using uncore::c::guarded;

/// Write an event as "imc/cas_count.rd/", with parameters as "?".
static std::string text_of(const event_info &info)
{
	std::string text = std::string(info.box) + '/' + std::string(info.name);

	for (std::string_view parameter : info.parameters)
		text += ',' + std::string(parameter) + "=?";
	return text + '/';
}

static std::string list_of(std::span<const std::string_view> names)
{
	return join({names.begin(), names.end()}, ",");
}

static result<std::vector<const metric_info *>>
all_metrics(const topology &machine)
{
	std::vector<const metric_info *> metrics;

	for (const metric_info &info : catalogue::of(machine).metrics())
		metrics.push_back(&info);
	return metrics;
}

static std::string reason_of(const result<void> &available)
{
	return available ? "" : available.error().message;
}

size_t uncore_session_list_events(struct uncore_session *session,
				  const char *box)
{
	if (!session)
		return 0;
	session->events.clear();
	session->event_texts.clear();
	(void)guarded(session, [&]() -> result<void> {
		const topology &machine = *session->machine;
		auto text = [&](std::string_view content) {
			return session->event_texts.emplace_back(content)
				.c_str();
		};

		for (const event_info &info : catalogue::of(machine).events()) {
			if ((box && !same_name(info.box, box)) ||
			    machine.match(info.box).empty())
				continue;
			session->events.push_back(
				{.size = sizeof(uncore_event),
				 .text = text(text_of(info)),
				 .box = text(info.box),
				 .name = text(info.name),
				 .description = text(info.description),
				 .unit = text(info.unit),
				 .parameters = text(list_of(info.parameters)),
				 .scale = info.scale,
				 .reason = text(reason_of(
					 check_available(info, machine)))});
		}
		return {};
	});
	return session->events.size();
}

int uncore_session_event(const struct uncore_session *session, size_t index,
			 struct uncore_event *event)
{
	return copy_out(session, &uncore_session::events, index, event);
}

size_t uncore_session_list_metrics(struct uncore_session *session,
				   const char *names)
{
	if (!session)
		return 0;
	session->metrics.clear();
	session->metric_texts.clear();
	(void)guarded(session, [&]() -> result<void> {
		const topology &machine = *session->machine;
		const auto infos = names ? find_metrics(machine, names)
					 : all_metrics(machine);
		auto text = [&](std::string_view content) {
			return session->metric_texts.emplace_back(content)
				.c_str();
		};

		if (!infos)
			return infos.error();
		for (const metric_info *info : *infos)
			session->metrics.push_back(
				{.size = sizeof(uncore_metric),
				 .name = text(info->name),
				 .box = text(info->box),
				 .description = text(info->description),
				 .unit = text(info->unit),
				 .groups = text(list_of(info->groups)),
				 .expression = text(info->expression),
				 .reason = text(reason_of(
					 check_available(*info, machine)))});
		return {};
	});
	return session->metrics.size();
}

int uncore_session_metric(const struct uncore_session *session, size_t index,
			  struct uncore_metric *metric)
{
	return copy_out(session, &uncore_session::metrics, index, metric);
}
