// SPDX-License-Identifier: GPL-2.0-or-later
// Which resource limits a socket?  A limit is a formula for the capacity of a box type
// and for the used share of it, for example the bytes that memory channels could transfer
// and did.  A use is the result for the boxes of a socket between two reads.  The
// verdict on a socket names the use that limits it, if any.
//
// The formulas are metrics of the event catalogue: events/limits.json names them, and
// tables.py turns them into formulas of series, with the thresholds of uncore diagnose's
// rules (events/diagnose.json).  The die map's page gets the formulas from /api/topology;
// userspace/monitoring/generate.py turns them into rules and panels.
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
#include "exporter/memory_peaks.hpp"

namespace cli {

/// Return the limits of a generation's boxes, in the form that the page reads.
nlohmann::ordered_json limits_of(std::string_view generation);

/// Sum the capacity of the PCIe links below a socket's root ports, each way, in
/// bytes a second: width in use times the speed that both ends support.
/// @return nothing if no link is up or sysfs has no links.
std::optional<double> pcie_capacity(const std::filesystem::path &sysfs,
				    const uncore::package &socket);

/// Use of a limited resource of a socket, such as its memory channels.
struct limit_use {
	std::string name = {}; ///< "memory"
	std::string box = {};  ///< box type, "imc"
	std::string one = {};  ///< name of a box: "channel"
	/// Unit of the capacity; empty for a share of time.
	std::string unit = {};
	/// Used share of the socket's capacity, 0 to 1: of all boxes together
	/// (socket "sum" in limits.json), or of the fullest box ("max").
	double share = 0;
	double capacity = 0; ///< of the socket, in units a second
	/// How the capacity is known, where both are possible: "computed" from the
	/// clock, or "measured" by uncore diagnose --calibrate.
	std::string known = {};
	double from = 1;     ///< share from which the verdict names the use
	double busy = 1;     ///< share from which the use limits the socket
	double box_busy = 1; ///< the same of a single box
	bool named = false;  ///< part of each verdict, limiting or not
	/// Not empty if the share is not that of a box's capacity, but a part of
	/// this total, such as "LLC misses".  Such a use limits a socket only
	/// when no box is full.
	std::string of = {};
	/// With a total: a smaller one, in units a second, counts in proportion,
	/// so that few misses limit nothing.
	double least = 0;
	unsigned boxes = 0;	  ///< number of boxes
	unsigned fullest = 0;	  ///< number of the fullest box
	double fullest_share = 0; ///< share of the fullest box's capacity
	double together = 0;	  ///< share of the summed capacity of all boxes
	double computed = 0;	  ///< the same of the computed capacity
	/// Share of each box by box number, also of unpopulated boxes: channels
	/// without modules.
	std::map<unsigned, double> each = {};
};

/// Verdict on a socket, for people and for programs.
struct judgement {
	/// Name of the limiting use; empty if nothing limits.
	std::string limited;
	std::string head; ///< "limited by memory", "nothing limits"
	/// "72 % of 63.5 GiB/s, channel 2 is the fullest (75 %)", "QPI 12 %",
	/// "Memory channel 3 is dead"
	std::vector<std::string> facts = {};
	/// Name of the use whose history is shown beside the verdict: the limiting
	/// use, or the first.
	std::string told;

	/// "limited by memory: 72 % of ...; QPI 12 %"
	std::string text() const;
};

/// Find the use that limits a socket.
/// @param uses of the socket's measured boxes.
/// @param down sentences about boxes that are not measured, for the verdict.
judgement judge(const std::vector<limit_use> &uses,
		std::vector<std::string> down = {});

/// Uses of each socket between two calls of take(), in the order of
/// limits.json.
class limit_uses {
public:
	void take(const collector &counters);
	const std::map<int, std::vector<limit_use>> &sockets() const
	{
		return sockets_;
	}
	/// Return the first use of a socket's boxes of a type; nullptr if it is
	/// unknown.
	const limit_use *find(int socket, std::string_view box) const;
	/// Lines for the user on measured peaks that cannot be used.
	std::vector<std::string> problems() const;
	/// Judge each socket of the machine.
	std::map<int, judgement> verdicts(const collector &counters) const;
	/// Write all verdicts and uses, for the page and for recordings.
	nlohmann::ordered_json describe(const collector &counters) const;

private:
	struct capacities;

	std::shared_ptr<const capacities> capacities_;
	/// Counts, collector::elapsed() by box type and socket, and
	/// collector::revision() at the last take().
	std::vector<box_count> last_counts_;
	std::map<std::pair<std::string, int>, double> elapsed_;
	uint64_t revision_ = 0;
	std::map<int, std::vector<limit_use>> sockets_;
};

} // namespace cli
