// SPDX-License-Identifier: LGPL-2.1-or-later
// Counting by perf events: groups in libperf's lists, each read through its
// first event's descriptor.
#include "backend.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "perf_attr.hpp"
#include "perf_glue.h"

namespace uncore {

namespace {

class perf_backend : public counter_backend {
public:
	perf_backend() : perf_(unc_perf_new()) {}

	result<void> open(const counter_group &group,
			  std::span<const int> cpus) override;
	result<void> enable(unsigned group) override;
	result<void> disable(unsigned group) override;
	int64_t read(unsigned group, unsigned cpu_index,
		     std::span<uint64_t> values) override;
	void visit(std::span<const int> cpus) override;
	void leave() override;
	bool is_online(int cpu) override;
	std::chrono::nanoseconds now() override
	{
		return std::chrono::steady_clock::now().time_since_epoch();
	}

private:
	/// A group: its first event's number, and its descriptors by CPU.
	struct opened {
		int leader;
		std::vector<int> descriptors;
	};

	int open_event(const event &wanted, std::span<const int> cpus,
		       int leader, size_t members);

	std::unique_ptr<unc_perf, perf_deleter> perf_;
	/// Where the thread that is visiting may run otherwise.
	cpu_set_t home_;
	bool away_ = false;
	std::vector<opened> groups_;
};

int perf_backend::open_event(const event &wanted, std::span<const int> cpus,
			     int leader, size_t members)
{
	perf_event_attr attr = attr_of(wanted);
	int number;

	attr.disabled = leader < 0;
	number = unc_perf_open(perf_.get(), &attr, cpus.data(), cpus.size(),
			       leader, members);
	return number;
}

result<void> perf_backend::open(const counter_group &group,
				std::span<const int> cpus)
{
	opened made{-1, {}};

	if (!perf_)
		return error{errc::system, "out of memory"};
	if (groups_.empty())
		raise_descriptor_limit();
	for (const event &wanted : group.members) {
		int number = open_event(wanted, cpus, made.leader,
					group.members.size());

		if (number < 0)
			return open_error(-number, wanted, made.leader >= 0);
		if (made.leader < 0)
			made.leader = number;
	}
	for (size_t i = 0; i < cpus.size(); i++)
		made.descriptors.push_back(
			unc_perf_fd(perf_.get(), made.leader, i));
	groups_.push_back(std::move(made));
	return {};
}

result<void> perf_backend::enable(unsigned group)
{
	int err = unc_perf_enable(perf_.get(), groups_[group].leader);

	if (err)
		return error{errc::system, fmt::format("starting counters: {}",
						       std::strerror(-err))};
	return {};
}

result<void> perf_backend::disable(unsigned group)
{
	int err = unc_perf_disable(perf_.get(), groups_[group].leader);

	if (err)
		return error{errc::system, fmt::format("stopping counters: {}",
						       std::strerror(-err))};
	return {};
}

int64_t perf_backend::read(unsigned group, unsigned cpu_index,
			   std::span<uint64_t> values)
{
	ssize_t size = ::read(groups_[group].descriptors[cpu_index],
			      values.data(), values.size_bytes());

	return size < 0 ? -errno : size;
}

void perf_backend::visit(std::span<const int> cpus)
{
	int here = sched_getcpu();
	cpu_set_t there;

	if (std::find(cpus.begin(), cpus.end(), here) != cpus.end())
		return;
	if (!away_ && sched_getaffinity(0, sizeof(home_), &home_))
		return;
	CPU_ZERO(&there);
	for (int cpu : cpus)
		if (cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &home_))
			CPU_SET(cpu, &there);
	away_ |= CPU_COUNT(&there) &&
		 !sched_setaffinity(0, sizeof(there), &there);
}

void perf_backend::leave()
{
	if (away_)
		sched_setaffinity(0, sizeof(home_), &home_);
	away_ = false;
}

bool perf_backend::is_online(int cpu)
{
	std::ifstream file(
		fmt::format("/sys/devices/system/cpu/cpu{}/online", cpu));
	int online = 1;

	// CPU 0 has no such file where it cannot go offline.
	file >> online;
	return online != 0;
}

} // namespace

std::shared_ptr<counter_backend> kernel_backend()
{
	return std::make_shared<perf_backend>();
}

} // namespace uncore
