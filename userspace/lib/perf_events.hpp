// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel's perf events, for counting, sampling, attribution and check:
// opening on CPUs, errors in words, ring buffers. perf_glue.c has the calls of
// libperf. Not a part of the public interface; the command uses it as well.
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
class perf_events : public counter_backend {
public:
	/// An event's number, in the order of opening. A group's is that of its
	/// first event.
	using number = unsigned;

	perf_events();
	perf_events(perf_events &&) = default;
	perf_events &operator=(perf_events &&) = default;
	~perf_events() override;

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
	/// An event on one CPU: number 0, with index 0.  Errors: of
	/// open_error().
	static result<perf_events>
	open_on(const event &wanted, const perf_event_attr &attr, int cpu);

	/// The descriptor on the CPU of that index.
	int fd(number event = 0, size_t cpu_index = 0) const;
	/// How samples and ring buffers name it there.
	result<uint64_t> id(number event, size_t cpu_index) const;
	/// What an event's counter on that CPU says.  Errors: errc::not_found:
	/// it has none, as it is pinned and there was none, or moved away.
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
	bool answers(const event &wanted, int cpu) override;
	unsigned watch(const std::filesystem::path &file) override;
	std::optional<std::string> changed(unsigned file) override;
	std::chrono::nanoseconds now() override;
	void wait(std::chrono::nanoseconds time) override;

	/// Maps a ring buffer of that many pages (a power of 2) for each CPU,
	/// which all of its events write to.
	result<void> map_ring_buffers(unsigned pages);
	/// Readable when a ring buffer has records; -1 before they are mapped.
	int poll_fd() const;
	/// Takes the records out of all ring buffers, one buffer after another.
	void drain(const std::function<void(const perf_event_header &record,
					    int cpu)> &take);

private:
	struct watched_file {
		int fd;
		std::string text;
	};

	std::unique_ptr<unc_perf, perf_deleter> perf_;
	std::vector<watched_file> files_;
	/// Where a thread that visits a package may run otherwise.
	std::optional<cpu_set_t> home_;
};

} // namespace uncore
