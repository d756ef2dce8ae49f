// SPDX-License-Identifier: LGPL-2.1-or-later
// Sampling by the C interface, uncore.h: the kernel's records as structures.
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

/// A sample's record after its header, by sample_type of sampler.cpp.
struct sample_record {
	uint64_t identifier, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t period;
};

struct lost_record {
	uint64_t id, lost;
};

/// PERF_RECORD_LOST_SAMPLES has no id; it ends with what sample_id_all adds.
struct lost_samples_record {
	uint64_t lost;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t identifier;
};

/// The body of a record, if it is long enough for a T.
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
	/// By id of the kernel.
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

	auto made = sampler::open(events, *machine, options);

	if (!made)
		return made.error();
	opened.emplace(*std::move(made));
	by_id.clear();
	for (const sampled_event &one : opened->events())
		for (const uint64_t id : one.ids)
			if (one.event)
				by_id[id] = one.event;
	return {};
}

void uncore_sampler::name(uncore_sample &sample, uint64_t id) const
{
	const auto found = by_id.find(id);

	if (found == by_id.end())
		return;
	sample.name = found->second->name.c_str();
	if (found->second->pmu)
		sample.pmu = found->second->pmu->name.c_str();
}

/// Return nothing for records about tasks.
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
		uncore_sampling given{};
		sampling_options options;

		if (settings && settings->size < sizeof(settings->size))
			return error{errc::invalid,
				     "the settings have no size"};
		if (settings)
			std::memcpy(&given, settings,
				    std::min(settings->size, sizeof(given)));
		options.period = given.period;
		if (given.frequency)
			options.frequency = given.frequency;
		if (given.pages)
			options.pages = given.pages;
		options.wakeup_samples = given.wakeup;
		if (options.pages & (options.pages - 1))
			return error{
				errc::invalid,
				"the pages of a ring buffer are not a power of 2"};
		return sampler->open(options);
	});
}

static result<sampler *> opened(struct uncore_sampler &of)
{
	if (!of.opened)
		return error{errc::misuse, "the sampler is not open"};
	return &*of.opened;
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
