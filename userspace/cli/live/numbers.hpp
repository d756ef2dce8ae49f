// SPDX-License-Identifier: GPL-2.0-or-later
// What uncore live shows of each socket, and how it was before: the series of
// uncore serve as rates and shares, by the formulas of its recording rules.
// It knows no terminal.
#pragma once

#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exporter/collector.hpp"
#include "exporter/limits.hpp"

namespace cli {

/// What a number counts.
enum class measure { bytes, events, cores, hertz, share };

/// When a row is shown: some stand for others where there is little room.
enum class row_room { any, small, large };

/// A row's number of one socket.  Not a number: unknown.
struct live_cell {
	double value = std::nan("");
	/// Of the most that is possible, 0 to 1, or of another row.
	double share = std::nan("");
	bool dead = false; ///< its box is not measured
	/// The shares of each box, in their order; for row_room::small.
	std::vector<double> parts;
	std::deque<double> past; ///< values, the last is the newest
};

struct live_row {
	std::string label;
	measure unit = measure::events;
	row_room room = row_room::any;
	bool heading = false; ///< others are parts of it
	/// A share near 1 means that it can do no more.
	bool fills = false;
	std::map<int, live_cell> sockets = {};
};

class live_numbers {
public:
	/// Takes what a read has brought, and what @p of says of its time.
	/// Numbers are of the time since the read before, as @p uses are.
	void take(std::vector<family> families, const collector &of,
		  const limit_uses &uses);

	/// In the order in which they are to be shown; the same ones each time
	/// once they were there.
	const std::vector<live_row> &rows() const { return rows_; }
	const std::set<int> &sockets() const { return sockets_; }
	/// Those that had CPUs, and have none now: nothing is counted there.
	const std::set<int> &offline() const { return offline_; }
	/// "Haswell-EP/EX", "xeon_uncore"
	const std::string &machine() const { return machine_; }
	const std::string &driver() const { return driver_; }
	/// Were there two reads to compare?
	bool known() const { return known_; }
	/// The least part of the time that a box's events were counted; less
	/// than 1 where others use its counters too.
	double counted() const { return counted_; }

private:
	using wanted = std::vector<std::pair<std::string_view, std::string>>;

	/// Is anything of that exported?
	bool has(std::string_view family) const;
	/// By how much the samples of a family that have these labels grew.
	double grown(std::string_view family, int socket,
		     const wanted &labels = {}) const;
	/// The values of a label that a socket's samples of a family have.
	std::vector<std::string> labels_of(std::string_view family, int socket,
					   std::string_view label);
	void note_machine();

	void take_memory(int socket, const collector &of,
			 const limit_uses &uses);
	void take_llc(int socket, const collector &of, const limit_uses &uses);
	void take_qpi(int socket, const collector &of, const limit_uses &uses);
	void take_pcie(int socket, const collector &of, const limit_uses &uses);
	void take_bus(int socket, const collector &of, const limit_uses &uses);
	void take_power(int socket, const collector &of,
			const limit_uses &uses);

	/// The cell of a row that is made when it is not there.
	live_cell &put(live_row of, int socket, double value, double share);
	void put(live_row of, int socket, double value)
	{
		put(std::move(of), socket, value, std::nan(""));
	}

	std::vector<family> now_, before_;
	/// Labels that a family of a socket has had.
	std::map<std::pair<std::string_view, int>, std::vector<std::string>>
		known_labels_;
	std::vector<live_row> rows_;
	std::set<int> sockets_, offline_;
	std::string machine_, driver_;
	double counted_ = 1;
	bool known_ = false;
};

} // namespace cli
