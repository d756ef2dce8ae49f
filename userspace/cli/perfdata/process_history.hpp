// SPDX-License-Identifier: GPL-2.0-or-later
// Which name a task had, and what its process had mapped, when a sample was
// taken.  Records of different CPUs are not in order of time; they are put in
// order, and gone through once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "perfdata/address_space.hpp"

namespace cli {

class process_history {
public:
	/// What happens to processes; times as those of samples.
	void name(uint64_t time, uint32_t pid, uint32_t tid, std::string name,
		  bool executes);
	void fork(uint64_t time, uint32_t pid, uint32_t tid,
		  uint32_t parent_pid, uint32_t parent_tid);
	void map(uint64_t time, uint32_t pid, uint64_t start, uint64_t length,
		 size_t mapping);

	/// Advances to a time, which is not before the last one.
	void advance(uint64_t time);

	// As things are then:
	/// "" for unknown.
	const std::string &name_of(uint32_t tid) const;
	/// address_space::none for unknown.
	size_t mapping_at(uint32_t pid, uint64_t address) const;

private:
	struct change {
		enum { named, executed, forked, mapped } kind;
		uint64_t time;
		uint32_t pid, tid;
		uint32_t parent_pid = 0, parent_tid = 0;
		uint64_t start = 0, length = 0;
		size_t mapping = 0;
		std::string name{};
	};

	void apply(change &c);
	address_space &writable(uint32_t pid);

	std::vector<change> changes_;
	size_t next_ = 0;
	bool sorted_ = false;
	std::unordered_map<uint32_t, std::string> names_;
	/// Shared with children until one of them maps something.
	std::unordered_map<uint32_t, std::shared_ptr<address_space>> spaces_;
};

} // namespace cli
