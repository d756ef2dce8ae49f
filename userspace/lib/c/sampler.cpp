// SPDX-License-Identifier: LGPL-2.1-or-later
// Sampling in the C interface, uncore.h: the kernel's records as structures.
#include "c/handle.hpp"

#include <map>
#include <optional>
#include <vector>

#include <linux/perf_event.h>

#include <uncore/event.hpp>
#include <uncore/sampler.hpp>

using namespace uncore;
using uncore::c::guarded;
using uncore::c::null_argument;

namespace {

/// Body of PERF_RECORD_SAMPLE; the fields follow from sample_type in
/// ../sampler.cpp.
struct sample_record {
	uint64_t identifier, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t period;
};

/// Body of PERF_RECORD_LOST, up to the number of lost records.
struct lost_record {
	uint64_t id, lost;
};

/// Body of PERF_RECORD_LOST_SAMPLES: the record has no id of its own, so the
/// event is found by the identifier in the fields of sample_id_all.
struct lost_samples_record {
	uint64_t lost;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t identifier;
};

/// Return the body of a record, if the record is long enough for a T.
template <class T> std::optional<T> body_of(const perf_event_header &header)
{
	T body;

	if (header.size < sizeof(header) + sizeof(body))
		return std::nullopt;
	std::memcpy(&body, &header + 1, sizeof(body));
	return body;
}

} // namespace

struct uncore_sampler : uncore::c::handle {
	using handle::handle;

	std::vector<event> events;
	std::optional<sampler> opened;
	/// Events by the kernel's id.
	std::map<uint64_t, const event *> by_id;

	result<void> add(std::string_view list);
	result<void> open(const sampling_options &options);
	std::optional<uncore_sample> sample_of(const perf_event_header &record,
					       int cpu) const;
	void name(uncore_sample &sample, uint64_t id) const;
};

result<void> uncore_sampler::add(std::string_view list)
{
	if (opened)
		return error{errc::misuse, "the sampler is open already"};

	auto parsed = parse_events(list, *machine);

	if (!parsed)
		return parsed.error();
	for (const event_group &group : *parsed)
		for (const event_term &term : group.terms) {
			if (term.events.front().type == event::duration_time)
				return error{errc::invalid,
					     "duration_time cannot be sampled"};
			events.insert(events.end(), term.events.begin(),
				      term.events.end());
		}
	return {};
}

result<void> uncore_sampler::open(const sampling_options &options)
{
	if (opened)
		return error{errc::misuse, "the sampler is open already"};
	if (events.empty())
		return error{errc::misuse,
			     "nothing was added that could be sampled"};

	auto created = sampler::open(events, *machine, options);

	if (!created)
		return created.error();
	opened.emplace(*std::move(created));
	by_id.clear();
	for (const sampled_event &sampled : opened->events())
		for (const uint64_t id : sampled.ids)
			if (sampled.event)
				by_id[id] = sampled.event;
	return {};
}

void uncore_sampler::name(uncore_sample &sample, uint64_t id) const
{
	const auto entry = by_id.find(id);

	if (entry == by_id.end())
		return;
	sample.name = entry->second->name.c_str();
	if (entry->second->pmu)
		sample.pmu = entry->second->pmu->name.c_str();
}

/// Convert a record of the kernel; nothing for records about tasks.
std::optional<uncore_sample>
uncore_sampler::sample_of(const perf_event_header &record, int cpu) const
{
	uncore_sample sample{};

	sample.size = sizeof(sample);
	sample.name = sample.pmu = "";
	sample.cpu = cpu;
	sample.package = machine->package_of(cpu);
	if (record.type == PERF_RECORD_SAMPLE) {
		const auto body = body_of<sample_record>(record);

		if (!body)
			return std::nullopt;
		name(sample, body->identifier);
		sample.pid = int(body->pid);
		sample.tid = int(body->tid);
		sample.ip = body->ip;
		sample.time = body->time;
		sample.period = body->period;
		return sample;
	}
	if (record.type == PERF_RECORD_LOST) {
		const auto body = body_of<lost_record>(record);

		if (!body || !body->lost)
			return std::nullopt;
		name(sample, body->id);
		sample.lost = body->lost;
		return sample;
	}
	if (record.type == PERF_RECORD_LOST_SAMPLES) {
		const auto body = body_of<lost_samples_record>(record);

		if (!body || !body->lost)
			return std::nullopt;
		name(sample, body->identifier);
		sample.lost = body->lost;
		return sample;
	}
	return std::nullopt;
}

struct uncore_sampler *uncore_sampler_new(const char *sysfs)
{
	return uncore::c::make<uncore_sampler>(sysfs);
}

void uncore_sampler_free(struct uncore_sampler *sampler)
{
	delete sampler;
}

const char *uncore_sampler_error(const struct uncore_sampler *sampler)
{
	return sampler ? sampler->message.c_str() : "the sampler is NULL";
}

int uncore_sampler_add_events(struct uncore_sampler *sampler,
			      const char *events)
{
	return guarded(sampler, [&]() -> result<void> {
		if (!events)
			return null_argument("the list of events");
		return sampler->add(events);
	});
}

int uncore_sampler_open(struct uncore_sampler *sampler,
			const struct uncore_sampling *settings)
{
	return guarded(sampler, [&]() -> result<void> {
		uncore_sampling complete{};
		sampling_options options;

		if (settings && settings->size < sizeof(settings->size))
			return error{errc::invalid,
				     "the settings have no size"};
		if (settings)
			std::memcpy(&complete, settings,
				    std::min(settings->size, sizeof(complete)));
		options.period = complete.period;
		if (complete.frequency)
			options.frequency = complete.frequency;
		if (complete.pages)
			options.pages = complete.pages;
		options.wakeup_samples = complete.wakeup;
		if (options.pages & (options.pages - 1))
			return error{
				errc::invalid,
				"the pages of a ring buffer are not a power of 2"};
		return sampler->open(options);
	});
}

static result<sampler *> opened(struct uncore_sampler &object)
{
	if (!object.opened)
		return error{errc::misuse, "the sampler is not open"};
	return &*object.opened;
}

int uncore_sampler_enable(struct uncore_sampler *sampler)
{
	return guarded(sampler, [&]() -> result<void> {
		auto open = opened(*sampler);

		return open ? (*open)->enable() : open.error();
	});
}

int uncore_sampler_disable(struct uncore_sampler *sampler)
{
	return guarded(sampler, [&]() -> result<void> {
		auto open = opened(*sampler);

		return open ? (*open)->disable() : open.error();
	});
}

int uncore_sampler_fd(const struct uncore_sampler *sampler)
{
	return sampler && sampler->opened ? sampler->opened->poll_fd() : -1;
}

int uncore_sampler_drain(struct uncore_sampler *sampler,
			 void (*take)(const struct uncore_sample *sample,
				      void *arg),
			 void *arg)
{
	return guarded(sampler, [&]() -> result<void> {
		auto open = opened(*sampler);

		if (!take)
			return null_argument("the function");
		if (!open)
			return open.error();
		(*open)->drain([&](const perf_event_header &record, int cpu) {
			const auto sample = sampler->sample_of(record, cpu);

			if (sample)
				take(&*sample, arg);
		});
		return {};
	});
}
