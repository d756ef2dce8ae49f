// SPDX-License-Identifier: GPL-2.0-or-later
// Names and mappings of processes in the course of time.
#include "perfdata/process_history.hpp"

#include <algorithm>

namespace cli {

void process_history::name(uint64_t time, uint32_t pid, uint32_t tid,
			   std::string name, bool executes)
{
	changes_.push_back(
		{executes ? change::executed : change::named, time, pid, tid});
	changes_.back().name = std::move(name);
}

void process_history::fork(uint64_t time, uint32_t pid, uint32_t tid,
			   uint32_t parent_pid, uint32_t parent_tid)
{
	changes_.push_back(
		{change::forked, time, pid, tid, parent_pid, parent_tid});
}

void process_history::map(uint64_t time, uint32_t pid, uint64_t start,
			  uint64_t length, size_t mapping)
{
	changes_.push_back(
		{change::mapped, time, pid, pid, 0, 0, start, length, mapping});
}

address_space &process_history::writable(uint32_t pid)
{
	auto &space = spaces_[pid];

	if (!space)
		space = std::make_shared<address_space>();
	else if (space.use_count() > 1)
		space = std::make_shared<address_space>(*space);
	return *space;
}

void process_history::apply(change &c)
{
	switch (c.kind) {
	case change::executed:
		spaces_.erase(c.pid);
		[[fallthrough]];
	case change::named:
		names_[c.tid] = std::move(c.name);
		break;
	case change::forked:
		names_[c.tid] = std::string(name_of(c.parent_tid));
		if (c.pid == c.parent_pid)
			break;
		if (auto parent = spaces_.find(c.parent_pid);
		    parent != spaces_.end())
			spaces_[c.pid] = std::shared_ptr(parent->second);
		else
			spaces_.erase(c.pid);
		break;
	case change::mapped:
		writable(c.pid).map(c.start, c.length, c.mapping);
		break;
	}
}

void process_history::advance(uint64_t time)
{
	if (!sorted_)
		std::stable_sort(changes_.begin(), changes_.end(),
				 [](const change &a, const change &b) {
					 return a.time < b.time;
				 });
	sorted_ = true;
	while (next_ < changes_.size() && changes_[next_].time <= time)
		apply(changes_[next_++]);
}

const std::string &process_history::name_of(uint32_t tid) const
{
	static const std::string unknown;
	auto known = names_.find(tid);

	return known == names_.end() ? unknown : known->second;
}

size_t process_history::mapping_at(uint32_t pid, uint64_t address) const
{
	auto space = spaces_.find(pid);

	return space == spaces_.end() ? address_space::none
				      : space->second->find(address);
}

} // namespace cli
