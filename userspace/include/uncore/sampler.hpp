// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sampling: record the code that runs on a CPU each time that a box's event has
/// counted a period.  The samples are the kernel's records, in the layout of
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

// Structures of the kernel, <linux/perf_event.h>.
struct perf_event_attr;
struct perf_event_header;

namespace uncore {

/// Options of sampler::open().  Programs do not change size, which tells the library
/// which members the structure has.
struct sampling_options {
	size_t size = sizeof(sampling_options);
	/// Counts between two samples of an event without period=; 0: use the
	/// frequency.
	uint64_t period = 0;
	/// Samples a second, for events without a period.
	uint64_t frequency = 1000;
	/// CPUs to sample; empty: all CPUs of the sockets in a PMU's cpumask.
	/// All CPUs of a socket share one counter, and each of these CPUs has a
	/// sample for each overflow.
	std::span<const int> cpus;
	/// Samples have call chains (PERF_SAMPLE_CALLCHAIN).
	bool call_chains = false;
	/// Pages of each CPU's ring buffer; a power of 2.
	unsigned pages = 128;
	/// Number of samples that make poll_fd() readable; 0: half a ring
	/// buffer.
	unsigned wakeup_samples = 0;
};

/// An event that the sampler has opened, and its ids in the kernel's records.
struct sampled_event {
	const uncore::event *event = nullptr; ///< nullptr: only reports tasks
	/// The attributes that the event was opened with, owned by the sampler.
	/// The structure has attr->size bytes.
	const perf_event_attr *attr = nullptr;
	std::vector<uint64_t> ids; ///< one for each CPU
	std::vector<int> cpus;
};

/// Sampled events, and the ring buffers with their records.
class UNCORE_EXPORT sampler {
public:
	/// Open the events, stopped, on each of their CPUs.  On every CPU, open
	/// a further event that reports new tasks, names and mappings from now
	/// on: together with a list of the tasks and mappings that exist
	/// already, the caller knows all of them.
	/// Samples have, in the kernel's order, IDENTIFIER, IP, TID, TIME, CPU,
	/// PERIOD and, if requested, CALLCHAIN
	/// (sampled_event::attr->sample_type).  Because of sample_id_all, other
	/// records end with the same fields without IP, PERIOD and CALLCHAIN.
	/// Errors: errc::invalid (an event that cannot be sampled),
	/// errc::conflict (not enough counters), errc::permission, errc::gone,
	/// errc::system.
	static result<sampler> open(std::span<const event> events,
				    const topology &machine,
				    const sampling_options &options);

	sampler(sampler &&) noexcept;
	sampler &operator=(sampler &&) noexcept;
	~sampler();

	result<void> enable();
	result<void> disable();

	/// A descriptor for poll(2), select(2) and event loops: readable if
	/// there are records to drain.  The descriptor belongs to the sampler:
	/// do not read from it or close it.
	int poll_fd() const;

	/// Call @p record for each record in the ring buffers, CPU after CPU.
	/// The records of a CPU are in order of time.
	void drain(const std::function<void(const perf_event_header &record,
					    int cpu)> &record);

	/// The opened events.  The last event is the event that reports tasks.
	std::span<const sampled_event> events() const;

	/// Read, for each of events(), the number of records that had no room
	/// in a ring buffer, as counted by the kernel (PERF_FORMAT_LOST, Linux
	/// 6.0).  The number includes records that were lost after the last
	/// PERF_RECORD_LOST.  Empty on older kernels.
	std::vector<uint64_t> lost() const;

private:
	struct UNCORE_HIDDEN state;
	explicit UNCORE_HIDDEN sampler(std::unique_ptr<state> opened);
	std::unique_ptr<state> state_;
};

} // namespace uncore
