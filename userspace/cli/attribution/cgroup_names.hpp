// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of cgroups by their ids.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cli {

/// Paths of cgroups by their id; asks the kernel for each one once.
class cgroup_names {
public:
	cgroup_names();
	const std::string &name(uint64_t id);

	/// Is there a file system that has them?
	bool are_there() const { return !mount_.empty(); }
	/// The path alone, not remembered; empty when it is gone.
	std::string path(uint64_t id);
	/// To be called before others are asked for, a while later.
	void forget() { all_.clear(); }

private:
	std::string mount_;
	/// Of those that may not be opened by their id, which wants
	/// CAP_DAC_READ_SEARCH.
	std::map<uint64_t, std::string> all_;
	std::map<uint64_t, std::string> names_;
};

} // namespace cli
