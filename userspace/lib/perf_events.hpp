// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel's perf events, for counting, sampling, attribution and check: open
// events on CPUs, read them, explain errors to the user, and map ring buffers.
// perf_glue.c calls libperf. Internal to the library and the command; not a
// part of the public interface.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <linux/perf_event.h>
#include <sched.h>

#include <uncore/error.hpp>
#include <uncore/event.hpp>

#include "backend.hpp"
#include "perf_glue.h"

namespace uncore {

/// Return the perf_event_open(2) attributes that count an event, with the times
/// for which the event was enabled and ran.
perf_event_attr attributes_of(const event &counted);

/// Make the error for an event that could not be opened, with a message for the
/// user.
/// @param number error number, positive as errno.
/// @param cpus CPUs on which the event should have been opened.
/// @param in_group the event is a member of a group, and not its leader.
error open_error(int number, const event &counted, std::span<const int> cpus,
		 bool in_group);

/// Check that @p cpu can count events, by opening an event on it.  A CPU that
/// is going offline can count no events, but sysfs still lists it as online.
bool counts_events(int cpu);

/// An event's count, and its enabled and running times in nanoseconds.
struct reading {
	uint64_t value = 0, enabled = 0, running = 0;
};

/// Open events, each on a list of CPUs; the destructor closes the events.
class perf_events : public counter_backend {
public:
	/// Number of an event, in the order of opening; the number of a group
	/// is the number of its first event.
	using number = unsigned;

	perf_events();
	perf_events(perf_events &&) = default;
	perf_events &operator=(perf_events &&) = default;
	~perf_events() override;

	/// Open an event on each of these CPUs.
	/// @param leader of the event's group; none for a leader.
	/// @param members number of events in a leader's group.
	/// Errors: of open_error().
	result<number> open(const event &counted, const perf_event_attr &attr,
			    std::span<const int> cpus,
			    const number *leader = nullptr, size_t members = 1);
	/// Open an event that the user did not ask for.  @param purpose of the
	/// event, for the message.  Errors: errc::system.
	result<number> open(const perf_event_attr &attr,
			    std::span<const int> cpus, const char *purpose);
	/// Open an event on one CPU alone: the event's number and the CPU's
	/// index are 0.  Errors: of open_error().
	static result<perf_events>
	open_on(const event &counted, const perf_event_attr &attr, int cpu);

	/// Return an event's descriptor on the CPU with this index.
	int fd(number event = 0, size_t cpu_index = 0) const;
	/// Return an event's ID on this CPU, as in samples and ring buffers.
	result<uint64_t> id(number event, size_t cpu_index) const;
	/// Read an event's counter on this CPU.  Errors: errc::not_found if
	/// read() returns no data: the event is pinned and found no counter, or
	/// was moved away.
	result<reading> read(number event = 0, size_t cpu_index = 0) const;

	result<unsigned> open(const counter_group &group,
			      std::span<const int> cpus) override;
	result<void> enable(number event) override;
	result<void> disable(number event) override;
	int64_t read_group(number group, unsigned cpu_index,
			   std::span<uint64_t> values) override;
	void visit(std::span<const int> cpus) override;
	void leave() override;
	bool is_online(int cpu) override { return counts_events(cpu); }
	bool answers(const event &probe, int cpu) override;
	unsigned watch(const std::filesystem::path &file) override;
	std::optional<std::string> changed(unsigned file) override;
	std::chrono::nanoseconds now() override;
	void wait(std::chrono::nanoseconds time) override;

	/// Map a ring buffer of @p pages pages (a power of 2) for each CPU; all
	/// events of the CPU write to its buffer.
	result<void> map_ring_buffers(unsigned pages);
	/// Descriptor that is readable when a ring buffer has records; -1
	/// before the buffers are mapped.
	int poll_fd() const;
	/// Take the records out of all ring buffers, one buffer after another.
	void drain(const std::function<void(const perf_event_header &record,
					    int cpu)> &take);

private:
	struct watched_file {
		int fd;
		std::string text;
	};

	std::unique_ptr<unc_perf, perf_deleter> perf_;
	std::vector<watched_file> files_;
	/// CPU affinity of the calling thread before visit().
	std::optional<cpu_set_t> home_;
};

} // namespace uncore
