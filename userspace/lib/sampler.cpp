// SPDX-License-Identifier: LGPL-2.1-or-later
// Sampling by libperf: events with a period, and the ring buffers they fill.
#include <uncore/sampler.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/ioctl.h>

#include <fmt/format.h>

#include "perf_attr.hpp"
#include "perf_glue.h"

namespace uncore {

namespace {

void set_common(perf_event_attr &attr)
{
	attr.sample_type = sampler::sample_type;
	attr.read_format = 0;
	attr.sample_id_all = 1;
	attr.disabled = 1;
}

perf_event_attr sampling_attr(const event &wanted,
			      const sampling_options &options)
{
	perf_event_attr attr = attr_of(wanted);
	uint64_t period =
		wanted.sample_period ? wanted.sample_period : options.period;

	set_common(attr);
	attr.freq = period == 0;
	attr.sample_period = period ? period : options.frequency;
	return attr;
}

/// Counts nothing; the kernel tells it of tasks and their mappings.
perf_event_attr task_attr()
{
	perf_event_attr attr{};

	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	set_common(attr);
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
	return attr;
}

/// Its counter can neither be set nor stopped.  (The fixed ones, which can,
/// have no unit mask.)
bool is_free_running(const event &wanted)
{
	return wanted.info && !wanted.info->counters &&
	       (wanted.config >> 8 & 0xff);
}

error sampling_error(int number, const event &wanted)
{
	if (number == EINVAL || number == EOPNOTSUPP)
		return {errc::invalid,
			fmt::format("{} cannot be sampled (a "
				    "free-running counter, a driver that only "
				    "counts, or more events than counters)",
				    wanted.text)};
	return open_error(number, wanted, false);
}

} // namespace

struct sampler::state {
	std::unique_ptr<unc_perf, perf_deleter> perf;
	std::vector<sampled_event> events;

	result<void> open(const event *wanted, perf_event_attr attr,
			  std::vector<int> cpus);
};

sampler::sampler(std::unique_ptr<state> opened) : state_(std::move(opened)) {}
sampler::sampler(sampler &&) noexcept = default;
sampler &sampler::operator=(sampler &&) noexcept = default;
sampler::~sampler() = default;

result<void> sampler::state::open(const event *wanted, perf_event_attr attr,
				  std::vector<int> cpus)
{
	int number = unc_perf_open(perf.get(), &attr, cpus.data(), cpus.size(),
				   -1, 1);

	if (number < 0 && wanted)
		return sampling_error(-number, *wanted);
	if (number < 0)
		return error{errc::system, fmt::format("watching tasks: {}",
						       strerror(-number))};

	sampled_event made{wanted, attr, {}, std::move(cpus)};

	for (size_t i = 0; i < made.cpus.size(); i++) {
		uint64_t id = 0;

		if (ioctl(unc_perf_fd(perf.get(), number, i), PERF_EVENT_IOC_ID,
			  &id))
			return error{errc::system,
				     fmt::format("an event's number: {}",
						 strerror(errno))};
		made.ids.push_back(id);
	}
	events.push_back(std::move(made));
	return {};
}

result<sampler> sampler::open(std::span<const event> events,
			      const topology &machine,
			      const sampling_options &options)
{
	auto made = std::make_unique<state>();

	raise_descriptor_limit();
	made->perf.reset(unc_perf_new());
	if (!made->perf)
		return error{errc::system, "out of memory"};
	for (const event &wanted : events) {
		if (is_free_running(wanted))
			return sampling_error(EINVAL, wanted);

		std::vector<int> cpus = options.cpus;

		if (cpus.empty())
			cpus = wanted.pmu && !wanted.pmu->cpus.empty()
				       ? wanted.pmu->cpus
				       : machine.cpus();
		std::sort(cpus.begin(), cpus.end());

		auto opened =
			made->open(&wanted, sampling_attr(wanted, options),
				   std::move(cpus));

		if (!opened)
			return opened.error();
	}
	if (auto opened = made->open(nullptr, task_attr(), machine.cpus());
	    !opened)
		return opened.error();
	if (int err = unc_perf_mmap(made->perf.get(), int(options.pages)))
		return error{err == -EPERM ? errc::permission : errc::system,
			     fmt::format("ring buffers of {} pages: {}{}",
					 options.pages, strerror(-err),
					 err == -EPERM
						 ? "; raise "
						   "kernel.perf_event_mlock_kb"
						 : "")};
	return sampler(std::move(made));
}

result<void> sampler::enable()
{
	// The one that tells of tasks is the last: it must not be too late.
	for (size_t i = state_->events.size(); i-- > 0;)
		if (int err = unc_perf_enable(state_->perf.get(), int(i)))
			return error{errc::system,
				     fmt::format("starting to sample: {}",
						 strerror(-err))};
	return {};
}

result<void> sampler::disable()
{
	for (size_t i = 0; i < state_->events.size(); i++)
		if (int err = unc_perf_disable(state_->perf.get(), int(i)))
			return error{errc::system,
				     fmt::format("stopping to sample: {}",
						 strerror(-err))};
	return {};
}

void sampler::drain(
	const std::function<void(const perf_event_header &, int)> &record)
{
	auto call = [](const perf_event_header *header, int cpu, void *arg) {
		(*static_cast<const std::function<void(
			 const perf_event_header &, int)> *>(arg))(*header,
								   cpu);
	};

	unc_perf_drain(state_->perf.get(), call,
		       const_cast<void *>(static_cast<const void *>(&record)));
}

std::span<const sampled_event> sampler::events() const
{
	return state_->events;
}

} // namespace uncore
