// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sampling: each time that an event has counted a number of times (the sample
/// period), the kernel records which code ran on the CPU.  The samples are the
/// kernel's records in ring buffers, in the layout of perf_event_open(2).
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

/// Defined in <linux/perf_event.h>.
struct perf_event_attr;
struct perf_event_header;

namespace uncore {

/// Options of sampler::open(). Programs do not change size, which tells the
/// library which members the program was compiled with.
struct sampling_options {
	size_t size = sizeof(sampling_options);
	/// Sample period, in counts, of events without period=; 0: the kernel
	/// or the driver adapts the period to frequency.
	uint64_t period = 0;
	/// Samples a second, for events without a period.
	uint64_t frequency = 1000;
	/// CPUs to sample; empty: all CPUs of the sockets in a PMU's cpumask.
	/// All CPUs of a socket share one counter, and each CPU has a sample
	/// for each overflow of the counter.
	std::span<const int> cpus;
	/// Samples have call chains (PERF_SAMPLE_CALLCHAIN).
	bool call_chains = false;
	/// Size of each CPU's ring buffer, in pages; a power of 2.
	unsigned pages = 128;
	/// Number of samples in a ring buffer after which poll_fd() becomes
	/// readable; 0: when a ring buffer is half full.
	unsigned wakeup_samples = 0;
};

/// An open event: its attributes, and the IDs that its samples have.
struct sampled_event {
	/// nullptr for the event that only reports tasks and takes no samples.
	const uncore::event *event = nullptr;
	/// Attributes with which the event was opened; attr->size is the size
	/// of the structure.  Owned by the sampler.
	const perf_event_attr *attr = nullptr;
	std::vector<uint64_t> ids; ///< one for each of cpus
	std::vector<int> cpus;
};

/// Sampled events, and the ring buffers with their records.
class UNCORE_EXPORT sampler {
public:
	/// Open events, stopped, on each of their CPUs. In addition, one event
	/// on every CPU reports tasks that start, change their name, map a file
	/// or end from now on. Tasks and mappings that exist already are not
	/// reported: a list of these, taken after open(), completes the
	/// records.
	///
	/// Samples have, in the kernel's order, IDENTIFIER, IP, TID, TIME, CPU,
	/// PERIOD and, if requested, CALLCHAIN
	/// (sampled_event::attr->sample_type). All other records end with TID,
	/// TIME, CPU and IDENTIFIER (sample_id_all).
	/// Errors: errc::invalid (an event that cannot be sampled),
	/// errc::conflict (too few counters), errc::permission, errc::gone,
	/// errc::system.
	static result<sampler> open(std::span<const event> events,
				    const topology &machine,
				    const sampling_options &options);

	sampler(sampler &&) noexcept;
	sampler &operator=(sampler &&) noexcept;
	~sampler();

	/// Start and stop sampling.
	result<void> enable();
	result<void> disable();

	/// Descriptor for poll(2), select(2) and event loops: readable when the
	/// ring buffers have records for drain().  The sampler owns the
	/// descriptor: do not read or close it.
	int poll_fd() const;

	/// Take all records out of the ring buffers, CPU after CPU, and call
	/// @p record for each.  The records of one CPU are in order of time.
	void drain(const std::function<void(const perf_event_header &record,
					    int cpu)> &record);

	/// The events of open() in their order, then the event that reports
	/// tasks.
	std::span<const sampled_event> events() const;

	/// Read the kernel's number of lost records of each of events():
	/// records that found no room in a ring buffer (PERF_FORMAT_LOST, Linux
	/// 6.0).  Unlike PERF_RECORD_LOST, the number includes records that
	/// were lost at the very end.  Empty on older kernels.
	std::vector<uint64_t> lost() const;

private:
	struct UNCORE_HIDDEN state;
	explicit UNCORE_HIDDEN sampler(std::unique_ptr<state> opened);
	std::unique_ptr<state> state_;
};

} // namespace uncore
