// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroups/cgroup_shares.hpp"

#include <algorithm>
#include <cmath>

namespace cli {

namespace {

constexpr double bytes_of_line = 64;
/// Cgroups get series by their recent traffic, in which older traffic weighs less: this
/// is the time in seconds in which the weight halves.
constexpr double half_life = 60;
/// Factor by which the recent traffic of a cgroup without a series has to exceed that of
/// a cgroup with a series to take over its place.  With a smaller factor, two cgroups of
/// similar traffic would alternate.
constexpr double clearly_more = 2;
/// Limit of the cgroup ids that share a series.
constexpr size_t most_ids = 64;
/// Limit of the remembered cgroups without a series.
constexpr size_t most_hidden = 1024;

const char *const way_names[] = {"read", "write"};

} // namespace

cgroup_shares::cgroup_shares(size_t most, path_of path, labels_of labels)
	: most_(most), path_(std::move(path)), labels_(std::move(labels))
{
}

/// Reduce the recent traffic of all cgroups, as @p seconds have passed.
void cgroup_shares::fade(double seconds)
{
	const double factor = std::exp2(-std::max(seconds, 0.0) / half_life);

	for (auto &[path, entry] : shown_)
		entry.recent *= factor;
	for (auto &[id, entry] : hidden_)
		entry.recent *= factor;
}

/// Find the series of a cgroup; nullptr without a series.  Cgroups with the same path
/// share a series: parts of a container, and cgroups that were removed and created again
/// with a new id.
cgroup_shares::shown *cgroup_shares::find(uint64_t id)
{
	if (const auto entry = shown_by_id_.find(id);
	    entry != shown_by_id_.end())
		return &entry->second->second;
	if (hidden_.contains(id))
		return nullptr;

	const std::string path = path_(id);
	const auto match = shown_.find(path);

	if (path.empty() || match == shown_.end()) {
		hide(id, path, 0);
		return nullptr;
	}

	std::set<uint64_t> &ids = match->second.ids;

	// Forget the lowest id: the kernel gives ascending ids, so this cgroup is
	// the oldest.
	if (ids.size() >= most_ids) {
		shown_by_id_.erase(*ids.begin());
		ids.erase(ids.begin());
	}
	ids.insert(id);
	shown_by_id_[id] = match;
	return &match->second;
}

/// Remember a cgroup without a series, and its recent traffic.  Cgroups with the same
/// path share an entry, of the last id.
void cgroup_shares::hide(uint64_t id, const std::string &path, double recent)
{
	for (auto it = hidden_.begin(); it != hidden_.end() && !path.empty();
	     ++it)
		if (it->second.path == path) {
			recent += it->second.recent;
			hidden_.erase(it);
			break;
		}
	hidden_[id] = {path, recent};
}

void cgroup_shares::add_task(const task_share &task, int socket)
{
	shown *owner = find(task.cgroup);
	counts &sums = owner ? owner->counted[socket] : other_[socket];
	double lines = 0;

	for (size_t way = 0; way < ways; way++) {
		sums[way] += task.counts[way];
		lines += to_double(task.counts[way]);
	}
	(owner ? owner->recent : hidden_[task.cgroup].recent) += lines;
}

/// List the cgroups without a series, the most active first.
std::vector<std::pair<double, uint64_t>> cgroup_shares::candidates() const
{
	std::vector<std::pair<double, uint64_t>> order;

	for (const auto &[id, entry] : hidden_)
		if (entry.recent >= 1 && !entry.path.empty())
			order.emplace_back(entry.recent, id);
	std::sort(order.rbegin(), order.rend());
	return order;
}

/// Remove series of the least active cgroups, if cgroups without a series are clearly
/// more active.  This is done before the new traffic is added: traffic in a series that
/// then disappears would be in no scrape.
/// @return the paths of the removed series.
std::set<std::string> cgroup_shares::make_room()
{
	std::set<std::string> removed;
	size_t room = most_ - shown_.size();

	for (const auto &[recent, id] : candidates()) {
		if (room) {
			room--;
			continue;
		}

		const auto least = std::min_element(
			shown_.begin(), shown_.end(),
			[](const auto &a, const auto &b) {
				return a.second.recent < b.second.recent;
			});

		if (least == shown_.end() ||
		    recent <= clearly_more * least->second.recent)
			break;
		removed.insert(least->first);
		hide(*least->second.ids.rbegin(), least->first,
		     least->second.recent);
		for (const uint64_t member : least->second.ids)
			shown_by_id_.erase(member);
		shown_.erase(least);
		changes_++;
	}
	return removed;
}

/// Give series to the most active cgroups without a series, except @p excluded.  This is
/// done after the new traffic was added to "other", so that the series begin with 0.
void cgroup_shares::fill_room(const std::set<std::string> &excluded)
{
	for (const auto &[recent, id] : candidates()) {
		if (shown_.size() >= most_)
			return;

		const std::string path = hidden_[id].path;

		if (excluded.contains(path))
			continue;
		shown_by_id_[id] =
			shown_.emplace(path, shown{{id}, recent, {}}).first;
		hidden_.erase(id);
	}
}

/// Forget cgroups without a series that have no recent traffic, and the least active of
/// too many.
void cgroup_shares::forget_idle()
{
	std::erase_if(hidden_, [](const auto &entry) {
		return entry.second.recent < 1;
	});
	while (hidden_.size() > most_hidden)
		hidden_.erase(std::min_element(
			hidden_.begin(), hidden_.end(),
			[](const auto &a, const auto &b) {
				return a.second.recent < b.second.recent;
			}));
}

void cgroup_shares::add(const account &traffic, double seconds)
{
	std::set<uint64_t> in_other;

	fade(seconds);

	const std::set<std::string> removed = make_room();

	for (const package_account &package : traffic.packages) {
		for (size_t way = 0; way < ways; way++) {
			other_[package.id][way] += package.other[way];
			idle_[package.id][way] += fixed_count(package.idle[way])
						  << fixed_bits;
		}
		merged_ += package.merged + package.dropped;
	}
	for (const task_share &task : traffic.tasks) {
		add_task(task, traffic.packages[task.package].id);
		if (!shown_by_id_.contains(task.cgroup))
			in_other.insert(task.cgroup);
	}
	in_other_ = in_other.size();
	fill_room(removed);
	forget_idle();
}

void cgroup_shares::add_to(std::vector<family> &families) const
{
	family bytes{
		"uncore_cgroup_memory_bytes", family::kind::counter, "bytes",
		"Data that a socket's memory channels transferred, by the cgroup whose tasks ran then."};
	const auto put = [&bytes](const std::string &cgroup, int socket,
				  const counts &sums,
				  const label_list &extra = {}) {
		for (size_t way = 0; way < ways; way++) {
			label_list sample_labels = {
				{"socket", std::to_string(socket)},
				{"cgroup", cgroup},
				{"direction", way_names[way]}};

			sample_labels.insert(sample_labels.end(), extra.begin(),
					     extra.end());
			bytes.samples.push_back(
				{std::move(sample_labels),
				 to_double(sums[way]) * bytes_of_line});
		}
	};
	const auto single = [&families](const char *name, family::kind type,
					const char *help, double value) {
		families.push_back({name, type, "", help, {{{}, value}}});
	};

	for (const auto &[socket, counted] : other_) {
		for (const auto &[path, entry] : shown_) {
			const auto position = entry.counted.find(socket);

			put(path, socket,
			    position == entry.counted.end() ? counts{}
							    : position->second,
			    labels_ ? labels_(path) : label_list());
		}
		put("other", socket, counted);
		put("idle", socket, idle_.at(socket));
	}
	families.push_back(std::move(bytes));
	single("uncore_cgroups_in_other", family::kind::gauge,
	       "Cgroups without their own series that had tasks since the last read.",
	       double(in_other_));
	single("uncore_cgroup_changes", family::kind::counter,
	       "Times that a cgroup lost its series to one that does more.",
	       double(changes_));
	single("uncore_cgroup_folded_tasks", family::kind::counter,
	       "Times that a task was not counted separately: too many tasks.",
	       double(merged_));
}

} // namespace cli
