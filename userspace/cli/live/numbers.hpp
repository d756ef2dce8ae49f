// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers of each socket in uncore live, and their history.  The counts come from the
// collector of uncore serve.  They are shown as rates, and as shares of the most that is
// possible, with the same formulas as in the recording rules for Prometheus.
// Independent of the terminal.
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

/// Unit of a number.
enum class measure { bytes, events, cores, hertz, share };

/// Room on the page for which a row is made.  Some boxes have a row each with large room,
/// and one row for all of them with small room.
enum class row_room { any, small, large };

/// The number of a row for a socket.  NaN: unknown.
struct live_cell {
	double value = std::nan("");
	/// Share of the most that is possible, 0 to 1; of "remote", share of the
	/// misses.
	double share = std::nan("");
	bool dead = false; ///< the box is not measured
	/// In a row of row_room::small: the share of each box.
	std::vector<double> parts;
	std::deque<double> past; ///< value at each read, oldest first
};

struct live_row {
	std::string label;
	measure unit = measure::events;
	row_room room = row_room::any;
	bool heading = false; ///< the indented rows below are details of this row
	/// A share near 1 means that the box is at the limit.
	bool fills = false;
	std::map<int, live_cell> sockets = {};
};

class live_numbers {
public:
	/// Make the numbers of the time since the previous read.
	/// @param families of this read.
	/// @param collector has the times of the read.
	/// @param uses limits in use, of the same time.
	void take(std::vector<family> families, const collector &collector,
		  const limit_uses &uses);

	/// Rows in the order of the page.  A row stays after its first
	/// appearance.
	const std::vector<live_row> &rows() const { return rows_; }
	const std::set<int> &sockets() const { return sockets_; }
	/// Sockets whose CPUs all went offline: no events are counted.
	const std::set<int> &offline() const { return offline_; }
	/// "Haswell-EP/EX", "xeon_uncore"
	const std::string &machine() const { return machine_; }
	const std::string &driver() const { return driver_; }
	/// Have two reads been taken, so that the numbers are known?
	bool known() const { return known_; }
	/// Smallest part of the time for which a box's events were counted;
	/// below 1 while events are multiplexed.
	double counted() const { return counted_; }

private:
	using label_filter =
		std::vector<std::pair<std::string_view, std::string>>;

	/// Does uncore serve export the family?
	bool has(std::string_view family) const;
	/// Get by how much the samples of a family with these labels have grown
	/// since the previous read; NaN if unknown.
	double growth(std::string_view family, int socket,
		      const label_filter &labels = {}) const;
	/// List the values of a label in a socket's samples of a family.
	std::vector<std::string> labels_of(std::string_view family, int socket,
					   std::string_view label);
	void note_machine();

	void take_memory(int socket, const collector &collector,
			 const limit_uses &uses);
	void take_llc(int socket, const collector &collector,
		      const limit_uses &uses);
	void take_links(int socket, const collector &collector,
			const limit_uses &uses);
	void take_pcie(int socket, const collector &collector,
		       const limit_uses &uses);
	void take_bus(int socket, const collector &collector,
		      const limit_uses &uses);
	void take_power(int socket, const collector &collector,
			const limit_uses &uses);

	/// Set the cell of a row, which is added if missing.
	live_cell &set_cell(live_row row, int socket, double value,
			    double share);
	void set_cell(live_row row, int socket, double value)
	{
		set_cell(std::move(row), socket, value, std::nan(""));
	}

	std::vector<family> now_, before_; ///< of the last two reads
	/// All values of a label so far, by family and socket.
	std::map<std::pair<std::string, int>, std::vector<std::string>>
		known_labels_;
	std::vector<live_row> rows_;
	std::set<int> sockets_, offline_;
	std::string machine_, driver_;
	double counted_ = 1;
	bool known_ = false;
};

} // namespace cli
