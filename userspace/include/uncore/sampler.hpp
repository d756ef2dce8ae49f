// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sampling: what ran on a CPU whenever a box's event had counted so many.  The
/// samples are the kernel's records, in the layout of perf_event_open(2).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <linux/perf_event.h>

#include <uncore/error.hpp>
#include <uncore/event.hpp>
#include <uncore/export.hpp>
#include <uncore/topology.hpp>

namespace uncore {

struct sampling_options {
	/// A sample every so many counts, where an event has no period= of its
	/// own; 0: by frequency.
	uint64_t period = 0;
	/// Samples a second, when there is no period.
	uint64_t frequency = 1000;
	/// Whose tasks are sampled; those of a PMU's cpumask where it is empty.
	/// An event takes a counter for each of them.
	std::vector<int> cpus;
	/// Of each CPU's ring buffer; a power of 2.
	unsigned pages = 128;
};

/// What the kernel was asked for, and how its records name it.
struct sampled_event {
	const uncore::event *event = nullptr; ///< nullptr: only tells of tasks
	perf_event_attr attr{};
	std::vector<uint64_t> ids; ///< one for each CPU
	std::vector<int> cpus;
};

class UNCORE_EXPORT sampler {
public:
	/// The sample_type of all events; with sample_id_all, records other
	/// than samples end with these, without IP and PERIOD.
	static constexpr uint64_t sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;

	/// Opens events, stopped, on each of their CPUs, and one on every CPU
	/// that tells of new tasks, names and mappings.
	/// @param events must outlive the sampler.
	/// Errors: errc::invalid (an event that cannot be sampled),
	/// errc::conflict (there are not counters enough),
	/// errc::permission, errc::gone, errc::system.
	static result<sampler> open(std::span<const event> events,
				    const topology &machine,
				    const sampling_options &options);

	sampler(sampler &&) noexcept;
	sampler &operator=(sampler &&) noexcept;
	~sampler();

	result<void> enable();
	result<void> disable();

	/// Calls @p record for each record there is, CPU after CPU; those of
	/// one CPU are in order of time.
	void drain(const std::function<void(const perf_event_header &record,
					    int cpu)> &record);

	/// Each event, and last the one that tells of tasks.
	std::span<const sampled_event> events() const;

private:
	struct state;
	explicit sampler(std::unique_ptr<state> opened);
	std::unique_ptr<state> state_;
};

} // namespace uncore
