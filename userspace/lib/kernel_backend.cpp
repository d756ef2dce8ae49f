// SPDX-License-Identifier: LGPL-2.1-or-later
// Counting by perf events: groups in libperf's lists, each read through its
// first event's descriptor.
#include "backend.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "perf_events.hpp"

namespace uncore {

namespace {

class perf_backend : public counter_backend {
public:
	~perf_backend() override
	{
		for (const watched_file &one : files_)
			if (one.fd >= 0)
				close(one.fd);
	}
	result<void> open(const counter_group &group,
			  std::span<const int> cpus) override;
	result<void> enable(unsigned group) override;
	result<void> disable(unsigned group) override;
	int64_t read(unsigned group, unsigned cpu_index,
		     std::span<uint64_t> values) override;
	void visit(std::span<const int> cpus) override;
	void leave() override;
	bool is_online(int cpu) override { return counts_events(cpu); }
	bool answers(const event &wanted, int cpu) override;
	unsigned watch(const std::filesystem::path &file) override;
	std::optional<std::string> changed(unsigned file) override;
	std::chrono::nanoseconds now() override
	{
		return std::chrono::steady_clock::now().time_since_epoch();
	}
	void wait(std::chrono::nanoseconds time) override
	{
		std::this_thread::sleep_for(time);
	}

private:
	/// A group: its first event's number, and its descriptors by CPU.
	struct opened {
		perf_events::number leader;
		std::vector<int> descriptors;
	};

	struct watched_file {
		int fd;
		std::string text;
	};

	perf_events events_;
	std::vector<watched_file> files_;
	/// Where the thread that is visiting may run otherwise.
	cpu_set_t home_;
	bool away_ = false;
	std::vector<opened> groups_;
};

result<void> perf_backend::open(const counter_group &group,
				std::span<const int> cpus)
{
	std::optional<perf_events::number> leader;
	opened made{};

	if (cpus.empty()) {
		groups_.push_back(std::move(made));
		return {};
	}
	for (const event &wanted : group.members) {
		perf_event_attr attr = attributes_of(wanted);

		attr.read_format |= PERF_FORMAT_GROUP;
		attr.disabled = !leader;

		auto number = events_.open(wanted, attr, cpus,
					   leader ? &*leader : nullptr,
					   group.members.size());

		if (!number)
			return number.error();
		if (!leader)
			leader = *number;
	}
	made.leader = *leader;
	for (size_t i = 0; i < cpus.size(); i++)
		made.descriptors.push_back(events_.fd(made.leader, i));
	groups_.push_back(std::move(made));
	return {};
}

result<void> perf_backend::enable(unsigned group)
{
	if (groups_[group].descriptors.empty())
		return {};
	return events_.enable(groups_[group].leader);
}

result<void> perf_backend::disable(unsigned group)
{
	if (groups_[group].descriptors.empty())
		return {};
	return events_.disable(groups_[group].leader);
}

int64_t perf_backend::read(unsigned group, unsigned cpu_index,
			   std::span<uint64_t> values)
{
	ssize_t size = ::read(groups_[group].descriptors[cpu_index],
			      values.data(), values.size_bytes());

	return size < 0 ? -errno : size;
}

bool perf_backend::answers(const event &wanted, int cpu)
{
	perf_event_attr attr = attributes_of(wanted);
	perf_events trial;

	attr.disabled = 1;

	const auto opened = trial.open(wanted, attr, {&cpu, 1});

	return opened || (opened.error().code != errc::gone &&
			  opened.error().code != errc::invalid);
}

unsigned perf_backend::watch(const std::filesystem::path &file)
{
	files_.push_back(
		{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), "-"});
	return files_.size() - 1;
}

std::optional<std::string> perf_backend::changed(unsigned file)
{
	watched_file &one = files_[file];
	char text[1024];
	const ssize_t n =
		one.fd < 0 ? -1 : pread(one.fd, text, sizeof(text), 0);

	if (n < 0 || std::string_view(text, n) == one.text)
		return std::nullopt;
	one.text.assign(text, n);
	return one.text;
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

} // namespace

std::shared_ptr<counter_backend> kernel_backend()
{
	return std::make_shared<perf_backend>();
}

} // namespace uncore
