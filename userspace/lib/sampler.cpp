// SPDX-License-Identifier: LGPL-2.1-or-later
// Sampling by libperf: events with a sample period, and their ring buffers.
#include <uncore/sampler.hpp>

#include <algorithm>
#include <cerrno>
#include <deque>

#include <unistd.h>

#include "options.hpp"
#include "perf_events.hpp"
#include "sampling.hpp"

namespace uncore {

namespace {

/// Fields of each sample, as documented in uncore/sampler.hpp.
constexpr uint64_t sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
				 PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;

/// PERF_FORMAT_LOST, which older headers lack.
constexpr uint64_t format_lost = 1u << 4;

/// An event's count and its lost records, as read(2) returns them.
struct lost_reading {
	uint64_t value = 0, lost = 0;
};

/// Check that the kernel counts lost records: Linux 6.0 and later do.
bool counts_lost()
{
	perf_event_attr attr{};
	const int cpu = 0;

	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.read_format = format_lost;
	attr.disabled = 1;
	return bool(
		perf_events().open(attr, {&cpu, 1}, "probing lost records"));
}

/// Set the attributes that all events of a sampler have: fields of samples and
/// of other records, and the number of lost records if the kernel counts it.
void set_common(perf_event_attr &attr)
{
	static const bool with_lost = counts_lost();

	attr.sample_type = sample_type;
	attr.read_format = with_lost ? format_lost : 0;
	attr.sample_id_all = 1;
	attr.disabled = 1;
}

/// Make the attributes of a sampled event.  Its period is period=, else that of
/// the options; without a period the event has a frequency.
perf_event_attr sampling_attr(const event &sampled,
			      const sampling_options &options)
{
	perf_event_attr attr = attributes_of(sampled);
	uint64_t period =
		sampled.sample_period ? sampled.sample_period : options.period;

	set_common(attr);
	attr.freq = period == 0;
	attr.sample_period = period ? period : options.frequency;
	attr.wakeup_events = options.wakeup_samples;
	if (options.call_chains)
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	return attr;
}

/// Describe the dummy event for which the kernel records tasks and their
/// mappings.
perf_event_attr task_attr()
{
	perf_event_attr attr{};

	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	set_common(attr);
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
	// The build ID identifies a mapped file: when the records are read, its
	// path may have another file.
	attr.build_id = 1;
	return attr;
}

} // namespace

struct sampler::state {
	topology machine; ///< owner of the events' PMUs
	perf_events opened;
	/// Deques: events point to the elements, which must not move.
	std::deque<event> copies;
	std::deque<perf_event_attr> attrs;
	std::vector<sampled_event> events;

	result<void> open(const event &sampled,
			  const sampling_options &options);
	result<void> watch_tasks();
	/// Return the number of the event for records about tasks: the last
	/// one.
	perf_events::number task_watch() const
	{
		return perf_events::number(events.size() - 1);
	}
	result<void> add(perf_events::number number, const event *sampled,
			 const perf_event_attr &attr, std::vector<int> cpus);
};

sampler::sampler(std::unique_ptr<state> opened) : state_(std::move(opened)) {}
sampler::sampler(sampler &&) noexcept = default;
sampler &sampler::operator=(sampler &&) noexcept = default;
sampler::~sampler() = default;

/// Add an open event to the list, with its IDs.
result<void> sampler::state::add(perf_events::number number,
				 const event *sampled,
				 const perf_event_attr &attr,
				 std::vector<int> cpus)
{
	sampled_event entry{
		sampled, &attrs.emplace_back(attr), {}, std::move(cpus)};

	for (size_t i = 0; i < entry.cpus.size(); i++) {
		auto id = opened.id(number, i);

		if (!id)
			return id.error();
		entry.ids.push_back(*id);
	}
	events.push_back(std::move(entry));
	return {};
}

result<void> sampler::state::open(const event &sampled,
				  const sampling_options &options)
{
	const event &copy = copies.emplace_back(sampled);
	perf_event_attr attr = sampling_attr(copy, options);
	std::vector<int> cpus(options.cpus.begin(), options.cpus.end());

	if (auto refusal = sampling_refusal(copy))
		return *refusal;
	if (cpus.empty())
		cpus = sampled_cpus(copy, machine);
	std::sort(cpus.begin(), cpus.end());
	// An event twice on a CPU would fill one ring buffer twice.
	cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());

	auto number = opened.open(copy, attr, cpus);

	if (!number && (number.error().code == errc::invalid ||
			number.error().code == errc::unsupported))
		return not_sampled(copy);
	if (!number)
		return number.error();
	return add(*number, &copy, attr, std::move(cpus));
}

result<void> sampler::state::watch_tasks()
{
	perf_event_attr attr = task_attr();
	std::vector<int> cpus = machine.cpus();
	auto number = opened.open(attr, cpus, "watching tasks");

	if (!number)
		return number.error();
	return add(*number, nullptr, attr, std::move(cpus));
}

result<sampler> sampler::open(std::span<const event> events,
			      const topology &machine,
			      const sampling_options &settings)
{
	const sampling_options options = complete_options(settings);
	std::unique_ptr<state> opened(new state{machine, {}, {}, {}, {}});

	for (const event &sampled : events)
		if (auto outcome = opened->open(sampled, options); !outcome)
			return outcome.error();
	if (auto outcome = opened->watch_tasks(); !outcome)
		return outcome.error();
	if (auto mapped = opened->opened.map_ring_buffers(options.pages);
	    !mapped)
		return mapped.error();
	// Begin to record tasks now, before enable(): a list of the existing
	// tasks, which the caller takes after open(), then misses no task.
	if (auto watching = opened->opened.enable(opened->task_watch());
	    !watching)
		return watching.error();
	return sampler(std::move(opened));
}

result<void> sampler::enable()
{
	for (size_t i = 0; i < state_->task_watch(); i++)
		if (auto outcome = state_->opened.enable(unsigned(i)); !outcome)
			return outcome;
	return {};
}

result<void> sampler::disable()
{
	for (size_t i = 0; i < state_->events.size(); i++)
		if (auto outcome = state_->opened.disable(unsigned(i));
		    !outcome)
			return outcome;
	return {};
}

int sampler::poll_fd() const
{
	return state_->opened.poll_fd();
}

void sampler::drain(
	const std::function<void(const perf_event_header &, int)> &record)
{
	state_->opened.drain(record);
}

std::vector<uint64_t> sampler::lost() const
{
	std::vector<uint64_t> lost_counts;

	for (size_t i = 0; i < state_->events.size(); i++) {
		const sampled_event &sampled = state_->events[i];
		uint64_t sum = 0;

		if (!(sampled.attr->read_format & format_lost))
			return {};
		for (size_t cpu = 0; cpu < sampled.cpus.size(); cpu++) {
			lost_reading reading;

			if (::read(state_->opened.fd(unsigned(i), cpu),
				   &reading,
				   sizeof(reading)) == sizeof(reading))
				sum += reading.lost;
		}
		lost_counts.push_back(sum);
	}
	return lost_counts;
}

std::span<const sampled_event> sampler::events() const
{
	return state_->events;
}

} // namespace uncore
