// SPDX-License-Identifier: GPL-2.0-or-later
// What the subcommands that load BPF programs share: descriptors, events opened
// for such programs, and why a program does not load.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <uncore/error.hpp>
#include <uncore/event.hpp>

struct perf_event_attr;

namespace cli {

/// A file descriptor that closes itself.
class unique_fd {
public:
	unique_fd() = default;
	explicit unique_fd(int fd) : fd_(fd) {}
	unique_fd(unique_fd &&other) noexcept
		: fd_(std::exchange(other.fd_, -1))
	{
	}
	unique_fd &operator=(unique_fd &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}
	~unique_fd()
	{
		if (fd_ >= 0)
			close(fd_);
	}

	int get() const { return fd_; }
	explicit operator bool() const { return fd_ >= 0; }

private:
	int fd_ = -1;
};

/// For std::unique_ptr of what libbpf gives, with the function that takes it
/// back.
template <auto give_back> struct bpf_deleter {
	template <class T> void operator()(T *what) const { give_back(what); }
};

/// What the system call gets for @p event: the words, the exclude bits and the
/// sample period.
perf_event_attr attributes_of(const uncore::event &event);

/// Can anything be counted on @p cpu?  Not while it is offline, or on its way
/// there.
bool counts_events(int cpu);

/// perf_event_open() of an event on one CPU.
/// Errors: as libuncore's, with the event's text; errc::gone when the CPU is
/// offline (counts_events() says so) or the box dead.
uncore::result<unique_fd> open_event(const uncore::event &event,
				     perf_event_attr attributes, int cpu);

/// Counts of an event: value, time enabled and time running.  Not found: the
/// event has a place on the CPU no more, or never got a counter (pinned).
struct reading {
	uint64_t value = 0, enabled = 0, running = 0;
};
uncore::result<reading> read_event(int fd);

/// Can BPF programs be loaded here?  Looks at what can be known before: the
/// kernel's version and its type information.
uncore::result<void> check_bpf();

/// Why libbpf's call failed, @p error being a negative errno.
uncore::error bpf_failure(std::string_view what, int error);

/// Keeps libbpf's messages for bpf_failure() instead of printing them;
/// with UNCORE_DEBUG in the environment they are printed.
void capture_bpf_messages();

/// CPUs that are online, ascending, from sysfs.
std::vector<int> online_cpus();

} // namespace cli
