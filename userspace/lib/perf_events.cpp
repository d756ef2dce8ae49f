// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel's perf events by libperf, with errors in words.
#include "perf_events.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "format.hpp"
#include "refusal.hpp"

namespace uncore {

// --- closing

/// If a close() takes longer than this, it waits in the kernel for an RCU grace
/// period, as on PREEMPT_RT since Linux 6.12.  Several threads that wait at the
/// same time share a grace period, so the other events are closed in threads.
static constexpr std::chrono::milliseconds waits(2);
static constexpr size_t most_threads = 64;

/// Run @p work in the calling thread and up to @p n new threads.  The new
/// threads block all signals: only the caller's own threads handle signals.
template <typename Work> static void in_threads(size_t n, const Work &work)
{
	std::vector<std::thread> threads;
	sigset_t blocked, before;

	sigfillset(&blocked);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	try {
		while (threads.size() < n)
			threads.emplace_back(work);
	} catch (const std::system_error &) {
	}
	pthread_sigmask(SIG_SETMASK, &before, nullptr);
	work();
	for (std::thread &thread : threads)
		thread.join();
}

/// Close all events: in this thread while close() is fast, then in several
/// threads.
void perf_deleter::operator()(unc_perf *perf) const
{
	using clock = std::chrono::steady_clock;
	std::vector<std::pair<int, int>> open;
	std::atomic<size_t> next = 0;
	bool slow = false;

	for (int event = 0; event < unc_perf_n_events(perf); event++)
		for (int cpu_index = 0;
		     cpu_index < unc_perf_n_cpus(perf, event); cpu_index++)
			open.emplace_back(event, cpu_index);

	auto close_next = [&] {
		const size_t position = next++;

		if (position >= open.size())
			return false;
		unc_perf_close(perf, open[position].first,
			       open[position].second);
		return true;
	};

	while (!slow) {
		const auto start = clock::now();

		if (!close_next())
			break;
		slow = clock::now() - start > waits;
	}
	if (slow && next < open.size())
		in_threads(std::min(open.size() - next, most_threads), [&] {
			while (close_next())
				;
		});
	unc_perf_delete(perf);
}

// --- opening

perf_event_attr attributes_of(const event &counted)
{
	perf_event_attr attr{};

	attr.size = sizeof(attr);
	attr.type = counted.type;
	attr.config = counted.config;
	attr.config1 = counted.config1;
	attr.config2 = counted.config2;
	attr.exclude_user = counted.exclude_user;
	attr.exclude_kernel = counted.exclude_kernel;
	attr.exclude_hv = counted.exclude_hv;
	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attr;
}

bool counts_events(int cpu)
{
	perf_event_attr attr{};

	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.disabled = 1;

	std::unique_ptr<unc_perf, perf_deleter> perf(unc_perf_new());

	return !perf ||
	       unc_perf_open(perf.get(), &attr, &cpu, 1, -1, 1) != -ENODEV;
}

/// Make the error for an event that cannot be opened on a CPU: the CPU is
/// offline, or the box does not answer.
static error gone(const event &counted, std::span<const int> cpus)
{
	for (int cpu : cpus)
		if (!counts_events(cpu))
			return {errc::gone,
				uncore::format("{}: CPU {} is offline",
					       counted.text, cpu)};
	return {errc::gone,
		uncore::format("{}: the box does not answer", counted.text)};
}

/// Make the error for EINVAL: the kernel answers it to an event that does not
/// fit into its group, and to an event that the PMU does not have.
static error refused(const event &counted, bool in_group)
{
	if (in_group)
		return {errc::conflict,
			uncore::format(
				"{} cannot be counted at once with the other events of its group",
				counted.text)};
	return {errc::invalid,
		uncore::format("{} does not take {}",
			       counted.pmu ? counted.pmu->name.c_str()
					   : "the core",
			       counted.text)};
}

error open_error(int number, const event &counted, std::span<const int> cpus,
		 bool in_group)
{
	if (const auto reason = perf_refusal(privileges::read(), number))
		return {errc::permission,
			uncore::format("no permission to count {}: {}",
				       counted.text, *reason)};
	switch (number) {
	case EINVAL:
		return refused(counted, in_group);
	case EMFILE:
	case ENFILE:
		return {errc::system,
			uncore::format(
				"too many open files at {}: raise ulimit -n (RLIMIT_NOFILE)",
				counted.text)};
	case ENODEV:
	case ENXIO:
		return gone(counted, cpus);
	case ENOENT:
	case EOPNOTSUPP:
		return {errc::unsupported,
			uncore::format("this machine does not count {}",
				       counted.text)};
	default:
		return {errc::system,
			uncore::format("opening {}: {}", counted.text,
				       std::strerror(number))};
	}
}

static error failed(const char *action, int number)
{
	return {errc::system,
		uncore::format("{}: {}", action, std::strerror(number))};
}

perf_events::perf_events() : perf_(unc_perf_new()) {}

perf_events::~perf_events()
{
	for (const watched_file &file : files_)
		if (file.fd >= 0)
			close(file.fd);
}

result<perf_events::number> perf_events::open(const event &counted,
					      const perf_event_attr &attr,
					      std::span<const int> cpus,
					      const number *leader,
					      size_t members)
{
	if (!perf_)
		return open_error(ENOMEM, counted, cpus, false);

	int opened = unc_perf_open(perf_.get(), &attr, cpus.data(), cpus.size(),
				   leader ? int(*leader) : -1, int(members));

	if (opened < 0)
		return open_error(-opened, counted, cpus, leader);
	return number(opened);
}

result<perf_events::number> perf_events::open(const perf_event_attr &attr,
					      std::span<const int> cpus,
					      const char *purpose)
{
	if (!perf_)
		return failed(purpose, ENOMEM);

	int opened = unc_perf_open(perf_.get(), &attr, cpus.data(), cpus.size(),
				   -1, 1);

	if (opened < 0)
		return failed(purpose, -opened);
	return number(opened);
}

result<perf_events> perf_events::open_on(const event &counted,
					 const perf_event_attr &attr, int cpu)
{
	perf_events events;

	if (auto opened = events.open(counted, attr, {&cpu, 1}); !opened)
		return opened.error();
	return events;
}

result<unsigned> perf_events::open(const counter_group &group,
				   std::span<const int> cpus)
{
	std::optional<number> leader;

	for (const event &member : group.members) {
		perf_event_attr attr = attributes_of(member);

		attr.read_format |= PERF_FORMAT_GROUP;
		attr.disabled = !leader;

		auto number =
			open(member, attr, cpus, leader ? &*leader : nullptr,
			     group.members.size());

		if (!number)
			return number.error();
		if (!leader)
			leader = *number;
	}
	return *leader;
}

bool perf_events::answers(const event &probe, int cpu)
{
	perf_event_attr attr = attributes_of(probe);

	attr.disabled = 1;

	const auto opened = open_on(probe, attr, cpu);

	return opened || (opened.error().code != errc::gone &&
			  opened.error().code != errc::invalid);
}

// --- counting

int perf_events::fd(number event, size_t cpu_index) const
{
	return unc_perf_fd(perf_.get(), int(event), int(cpu_index));
}

result<uint64_t> perf_events::id(number event, size_t cpu_index) const
{
	uint64_t id = 0;

	if (ioctl(fd(event, cpu_index), PERF_EVENT_IOC_ID, &id))
		return failed("an event's number", errno);
	return id;
}

result<void> perf_events::enable(number event)
{
	if (int err = unc_perf_enable(perf_.get(), int(event)))
		return failed("starting counters", -err);
	return {};
}

result<void> perf_events::disable(number event)
{
	if (int err = unc_perf_disable(perf_.get(), int(event)))
		return failed("stopping counters", -err);
	return {};
}

result<reading> perf_events::read(number event, size_t cpu_index) const
{
	reading counted;
	const ssize_t n =
		::read(fd(event, cpu_index), &counted, sizeof(counted));

	if (n < 0)
		return failed("reading an event", errno);
	if (n != sizeof(counted))
		return error{errc::not_found, "the event has no counter"};
	return counted;
}

int64_t perf_events::read_group(number group, unsigned cpu_index,
				std::span<uint64_t> values)
{
	const ssize_t size = ::read(fd(group, cpu_index), values.data(),
				    values.size_bytes());

	return size < 0 ? -errno : size;
}

void perf_events::visit(std::span<const int> cpus)
{
	const bool away = home_.has_value();
	cpu_set_t target, home;

	if (std::find(cpus.begin(), cpus.end(), sched_getcpu()) != cpus.end())
		return;
	if (!away && sched_getaffinity(0, sizeof(home), &home))
		return;
	if (away)
		home = *home_;
	CPU_ZERO(&target);
	for (int cpu : cpus)
		if (cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &home))
			CPU_SET(cpu, &target);
	if (CPU_COUNT(&target) &&
	    !sched_setaffinity(0, sizeof(target), &target))
		home_ = home;
}

void perf_events::leave()
{
	if (home_)
		sched_setaffinity(0, sizeof(*home_), &*home_);
	home_.reset();
}

std::chrono::nanoseconds perf_events::now()
{
	return std::chrono::steady_clock::now().time_since_epoch();
}

void perf_events::wait(std::chrono::nanoseconds time)
{
	std::this_thread::sleep_for(time);
}

// --- files of sysfs

unsigned perf_events::watch(const std::filesystem::path &file)
{
	files_.push_back(
		{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), "-"});
	return files_.size() - 1;
}

std::optional<std::string> perf_events::changed(unsigned file)
{
	watched_file &watched = files_[file];
	char text[1024];
	const ssize_t n =
		watched.fd < 0 ? -1 : pread(watched.fd, text, sizeof(text), 0);

	if (n < 0 || std::string_view(text, n) == watched.text)
		return std::nullopt;
	watched.text.assign(text, n);
	return watched.text;
}

// --- ring buffers

result<void> perf_events::map_ring_buffers(unsigned pages)
{
	int err = unc_perf_mmap(perf_.get(), int(pages));

	if (!err)
		return {};
	return error{
		err == -EPERM ? errc::permission : errc::system,
		uncore::format("ring buffers of {} pages: {}{}", pages,
			       std::strerror(-err),
			       err == -EPERM
				       ? "; raise kernel.perf_event_mlock_kb"
				       : "")};
}

int perf_events::poll_fd() const
{
	return unc_perf_poll_fd(perf_.get());
}

void perf_events::drain(
	const std::function<void(const perf_event_header &, int)> &take)
{
	auto call = [](const perf_event_header *header, int cpu, void *arg) {
		(*static_cast<decltype(&take)>(arg))(*header, cpu);
	};

	unc_perf_drain(perf_.get(), call,
		       const_cast<void *>(static_cast<const void *>(&take)));
}

} // namespace uncore
