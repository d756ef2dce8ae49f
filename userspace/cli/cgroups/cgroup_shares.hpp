// SPDX-License-Identifier: GPL-2.0-or-later
// Memory traffic by cgroup for uncore serve.  The most active cgroups have series with
// their names; the traffic of all further cgroups is in the series "other".
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attribution/attribution.hpp"
#include "exporter/exposition.hpp"

namespace cli {

/// Sums of attribution's accounts.  No series ever decreases, and every count is in
/// exactly one series, so that the rates add up to the rates of the sockets.  The series
/// of a cgroup begins with 0 when the cgroup gets it; the cgroup's earlier counts are in
/// "other".
class cgroup_shares {
public:
	/// Getter of the path of a cgroup; empty if the cgroup was removed.
	using path_of = std::function<std::string(uint64_t)>;
	/// Columns of the accounts: cache lines that were read and written.  ways
	/// is their number.
	enum : size_t { read, write, ways };

	/// Further labels of the series of a path.
	using label_list = decltype(sample::labels);
	using labels_of = std::function<label_list(const std::string &)>;

	/// @param most limit of the cgroups with a series.
	cgroup_shares(size_t most, path_of path, labels_of labels = {});

	/// Add the account of the last @p seconds.
	void add(const account &traffic, double seconds);
	void add_to(std::vector<family> &families) const;

private:
	using counts = std::array<fixed_count, ways>;
	using by_socket = std::map<int, counts>;

	/// Cgroup with a series.
	struct shown {
		/// Ids of the cgroups with this path: a container's parts, and
		/// cgroups created again.
		std::set<uint64_t> ids;
		double recent;	   ///< recent cache lines, see half_life
		by_socket counted; ///< the sums of the series
	};
	/// Cgroup without a series.
	struct hidden {
		std::string path;
		double recent;
	};

	void fade(double seconds);
	void add_task(const task_share &task, int socket);
	shown *find(uint64_t id);
	void hide(uint64_t id, const std::string &path, double recent);
	std::vector<std::pair<double, uint64_t>> candidates() const;
	std::set<std::string> make_room();
	void fill_room(const std::set<std::string> &excluded);
	void forget_idle();

	size_t most_;
	path_of path_;
	labels_of labels_;
	std::map<std::string, shown> shown_; ///< by path
	std::map<uint64_t, std::map<std::string, shown>::iterator> shown_by_id_;
	std::map<uint64_t, hidden> hidden_;
	by_socket other_, idle_;
	size_t in_other_ = 0; ///< cgroups of the last account without a series
	/// Times that a cgroup lost its series; times that a task had no row of
	/// its own in an account.
	uint64_t changes_ = 0, merged_ = 0;
};

} // namespace cli
