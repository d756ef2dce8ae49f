// SPDX-License-Identifier: GPL-2.0-or-later
// What a box can do at most, and how much of that it does.  The formulas are
// metrics of the event catalogue, which limits.json names and tables.py makes
// formulas of series of.  The die map's page has them from /api/topology, and
// userspace/monitoring/generate.py makes rules and panels of them.
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

/// The limits of a generation's boxes, as the page reads them.
nlohmann::ordered_json limits_of(std::string_view generation);

/// What the PCIe links below a socket's root ports transfer at most, each way,
/// in bytes a second: width in use times the speed that both ends support.
/// None where no link is up or sysfs has no links.
std::optional<double> pcie_capacity(const std::filesystem::path &sysfs,
				    const uncore::package &of);

/// How full something of a socket is.
struct limit_use {
	std::string name = {}; ///< "memory"
	std::string one = {};  ///< what the boxes are called: "channel"
	std::string unit = {}; ///< of the capacity; empty for a share of time
	double share = 0; ///< of the socket's
	double capacity = 0;
	double busy = 1; ///< from there on it limits
	bool named = false; ///< in each verdict, whether it limits or not
	/// A share of that, such as "LLC misses", where it is not a box's; such
	/// a use limits only when nothing is full.
	std::string of = {};
	/// Least shares of other uses, without which it does not limit.
	std::map<std::string, double> with = {};
	unsigned boxes = 0;
	unsigned fullest = 0; ///< box number
	double fullest_share = 0;
	double together = 0; ///< share of all boxes, as if they were one
	/// Of each box, by its number; of an unpopulated one as well.
	std::map<unsigned, double> each = {};
};

/// What limits a socket, for people and for programs.
struct judgement {
	std::string limited; ///< name of the use; empty where nothing limits
	std::string head;    ///< "limited by memory", "nothing limits"
	/// "72 % of 63.5 GiB/s, channel 2 is the fullest (75 %)", "QPI 12 %",
	/// "Memory channel 3 is dead"
	std::vector<std::string> facts = {};
	std::string told; ///< name of the use whose history tells most

	/// "limited by memory: 72 % of ...; QPI 12 %"
	std::string text() const;
};

/// @param uses of a socket; from which boxes that are @p down are missing.
judgement judge(const std::vector<limit_use> &uses,
		std::vector<std::string> down = {});

/// Uses of each socket between two calls of take(), in the order of
/// limits.json.
class limit_uses {
public:
	void take(const collector &of);
	const std::map<int, std::vector<limit_use>> &sockets() const
	{
		return sockets_;
	}
	/// nullptr where that is not known.
	const limit_use *find(int socket, std::string_view name) const;
	/// What limits each socket of the machine.
	std::map<int, judgement> verdicts(const collector &of) const;
	/// The same with all uses, as the page and recordings have them.
	nlohmann::ordered_json describe(const collector &of) const;

private:
	struct capacities;

	/// Of the machine that has this revision.
	std::shared_ptr<const capacities> known_;
	std::vector<box_count> before_;
	/// Elapsed time of a limit's boxes at the last take().
	std::map<std::pair<std::string, int>, double> elapsed_;
	uint64_t revision_ = 0;
	std::map<int, std::vector<limit_use>> sockets_;
};

} // namespace cli
