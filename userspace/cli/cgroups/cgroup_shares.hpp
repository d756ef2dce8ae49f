// SPDX-License-Identifier: GPL-2.0-or-later
// Traffic of memory by cgroup, as series that scrapers can add up: some cgroups
// by name, the others together.
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

/// Adds accounts up.  No series ever goes back, and whatever was counted is in
/// one of them, so that rates add up to the sockets' as well: a cgroup gets a
/// separate series, which begins with 0, only for what is still to come.
class cgroup_shares {
public:
	/// The path of a cgroup, empty when there is none any more.
	using path_of = std::function<std::string(uint64_t)>;
	/// Columns of the accounts, which count lines.
	enum : size_t { read, write, ways };

	/// Further labels of a path's series.
	using label_list = decltype(sample::labels);
	using labels_of = std::function<label_list(const std::string &)>;

	/// At most @p most have a series.
	cgroup_shares(size_t most, path_of path, labels_of labels = {});

	/// What happened in that time.
	void add(const account &taken, double seconds);
	void add_to(std::vector<family> &families) const;

private:
	using counts = std::array<fixed_count, ways>;
	using by_socket = std::map<int, counts>;

	/// One that has a series.
	struct shown {
		/// Of the cgroups with this path: a container's parts, and
		/// those that were made again.
		std::set<uint64_t> ids;
		double recent; ///< lines lately
		by_socket counted;
	};
	/// One that has none.
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
	void fill_room(const std::set<std::string> &but);
	void forget_idle();

	size_t most_;
	path_of path_;
	labels_of labels_;
	std::map<std::string, shown> shown_; ///< by their paths
	std::map<uint64_t, std::map<std::string, shown>::iterator> known_;
	std::map<uint64_t, hidden> hidden_;
	by_socket other_, idle_;
	size_t in_other_ = 0; ///< cgroups, in the last account
	uint64_t changes_ = 0, folded_ = 0;
};

} // namespace cli
