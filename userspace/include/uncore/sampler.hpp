// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sampling: the code that ran on a CPU each time that a box's event had counted a
/// period.  The samples are the kernel's records, in the layout of
/// perf_event_open(2).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/event.hpp>
#include <uncore/export.hpp>
#include <uncore/topology.hpp>

/// The kernel's, <linux/perf_event.h>.
struct perf_event_attr;
struct perf_event_header;

namespace uncore {

/// Programs leave size as it is: it tells the library which members there are.
struct sampling_options {
	size_t size = sizeof(sampling_options);
	/// Counts between two samples of an event without period=; 0: by
	/// frequency.
	uint64_t period = 0;
	/// Samples a second, for events without a period.
	uint64_t frequency = 1000;
	/// CPUs to sample; empty: all CPUs of the sockets in a PMU's cpumask.
	/// The driver shares one counter for all CPUs of a socket, and each of
	/// them has a sample for each overflow.
	std::span<const int> cpus;
	/// Samples have call chains (PERF_SAMPLE_CALLCHAIN).
	bool call_chains = false;
	/// Of each CPU's ring buffer; a power of 2.
	unsigned pages = 128;
	/// Number of samples with which poll_fd() becomes readable; 0: when a
	/// ring buffer is half full.
	unsigned wakeup_samples = 0;
};

/// What the kernel was asked for, and how its records name it.
struct sampled_event {
	const uncore::event *event = nullptr; ///< nullptr: only reports tasks
	/// As opened; attr->size says how much of it there is.  The sampler's.
	const perf_event_attr *attr = nullptr;
	std::vector<uint64_t> ids; ///< one for each CPU
	std::vector<int> cpus;
};

class UNCORE_EXPORT sampler {
public:
	/// Open events, stopped, on each of their CPUs, and one on every CPU
	/// that reports new tasks, names and mappings from now on: with a list
	/// of those that exist already, the caller has all.
	/// Samples have, in the kernel's order, IDENTIFIER, IP, TID, TIME, CPU,
	/// PERIOD and, if requested, CALLCHAIN
	/// (sampled_event::attr->sample_type); with sample_id_all, other
	/// records end with these, without IP, PERIOD and CALLCHAIN.
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

	/// For poll(2), select(2) and event loops: readable when there are
	/// records to drain.  The sampler's: not to be read or closed.
	int poll_fd() const;

	/// Calls @p record for each record there is, CPU after CPU; those of
	/// one CPU are in order of time.
	void drain(const std::function<void(const perf_event_header &record,
					    int cpu)> &record);

	/// Each event, and last the one that reports tasks.
	std::span<const sampled_event> events() const;

	/// Read how many records of each of events() found no room in a ring
	/// buffer, by the kernel's own count (PERF_FORMAT_LOST, Linux 6.0).
	/// It has those that were lost after the last PERF_RECORD_LOST; empty
	/// on older kernels.
	std::vector<uint64_t> lost() const;

private:
	struct UNCORE_HIDDEN state;
	explicit UNCORE_HIDDEN sampler(std::unique_ptr<state> opened);
	std::unique_ptr<state> state_;
};

} // namespace uncore
