// SPDX-License-Identifier: GPL-2.0-or-later
// What a box can do at most, and how much of that it does: limits.json, the one
// place where these formulas are.  The die map's page has them from
// /api/topology, and userspace/monitoring/generate.py makes rules and panels of them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <uncore/topology.hpp>

#include "exporter/collector.hpp"

namespace cli {

/// limits.json for a generation, as the page reads it.
nlohmann::ordered_json limits_of(std::string_view generation);

/// What the PCIe links below a socket's root ports transfer at most, each way,
/// in bytes a second: width in use times the speed that both ends support.
/// None where no link is up or sysfs has no links.
std::optional<double> pcie_capacity(const std::filesystem::path &sysfs,
				    const uncore::package &of);

/// How full something of a socket is.
struct limit_use {
	std::string name; ///< "memory"
	std::string one;  ///< what the boxes are called: "channel"
	std::string unit; ///< of the capacity; empty for a share of time
	double share = 0; ///< of the socket's
	double capacity = 0;
	double busy = 1; ///< from there on it limits
	unsigned boxes = 0;
	unsigned fullest = 0; ///< box number
	double fullest_share = 0;
};

/// Uses of each socket between two reads, in the order of limits.json.
class limit_uses {
public:
	void take(const collector &of);
	const std::map<int, std::vector<limit_use>> &sockets() const
	{
		return sockets_;
	}

private:
	struct capacities;

	/// Of the machine that has this revision.
	std::shared_ptr<const capacities> known_;
	std::vector<box_count> before_;
	uint64_t revision_ = 0;
	std::map<int, std::vector<limit_use>> sockets_;
};

/// What limits a socket now, and how full memory and QPI are: "limited by
/// memory: 72 % of 68.2GB/s, channel 2 is the fullest (75 %); QPI 12 %", or
/// "nothing limits: memory 3.0 % of ...".
std::string verdict(const std::vector<limit_use> &of);

} // namespace cli
