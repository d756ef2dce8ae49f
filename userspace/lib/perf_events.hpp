// SPDX-License-Identifier: LGPL-2.1-or-later
// The one way to the kernel's perf events, for counting, sampling, attribution
// and check: attributes, opening on CPUs, errors in words, ring buffers.  It is
// libperf underneath.  Not a part of the public interface; the command uses it
// as well.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <linux/perf_event.h>

#include <uncore/error.hpp>
#include <uncore/event.hpp>

#include "perf_glue.h"

namespace uncore {

/// What an event is to perf_event_open(2), for counting: with the time that it
/// was enabled and ran.
perf_event_attr attributes_of(const event &wanted);

/// In words, what it means that an event could not be opened.
/// @param number positive, as errno.
/// @param cpus where it was to be opened.
error open_error(int number, const event &wanted, std::span<const int> cpus,
		 bool in_group);

/// Can anything be counted on @p cpu?  Not while it is offline, nor on its way
/// there, which sysfs hears of later.
bool counts_events(int cpu);

/// An event's count, and for how long it was enabled and ran, in nanoseconds.
struct reading {
	uint64_t value = 0, enabled = 0, running = 0;
};

/// Events that are open, each on a list of CPUs; closed with it.
class perf_events {
public:
	/// An event's number, in the order of opening.
	using number = unsigned;

	perf_events();

	/// Opens an event on each of these CPUs.
	/// @param leader of its group; none for an event that leads one.
	/// @param members of the group that it leads.
	/// Errors: of open_error().
	result<number> open(const event &wanted, const perf_event_attr &attr,
			    std::span<const int> cpus,
			    const number *leader = nullptr, size_t members = 1);
	/// One that stands for no event of the user's.  Errors: errc::system.
	result<number> open(const perf_event_attr &attr,
			    std::span<const int> cpus, const char *what);

	/// The descriptor on the CPU of that index.
	int fd(number event, size_t cpu_index) const;
	/// How samples and ring buffers name it there.
	result<uint64_t> id(number event, size_t cpu_index) const;

	/// Start and stop an event, with the group that it leads, on all CPUs.
	result<void> enable(number event);
	result<void> disable(number event);

	/// What an event's counter on that CPU says.  Errors: errc::not_found:
	/// it has none, as it is pinned and there was none, or moved away.
	result<reading> read(number event, size_t cpu_index) const;

	/// Maps a ring buffer of that many pages (a power of 2) for each CPU,
	/// which all of its events write to.
	result<void> map_ring_buffers(unsigned pages);
	/// Readable when a ring buffer has records; -1 before they are mapped.
	int poll_fd() const;
	/// Takes the records out of all ring buffers, one buffer after another.
	void drain(const std::function<void(const perf_event_header &record,
					    int cpu)> &take);

private:
	std::unique_ptr<unc_perf, perf_deleter> perf_;
};

} // namespace uncore
