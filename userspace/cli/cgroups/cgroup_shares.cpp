// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroups/cgroup_shares.hpp"

#include <algorithm>
#include <cmath>

namespace cli {

namespace {

constexpr double bytes_of_line = 64;
/// In which what a cgroup did counts half.
constexpr double half_life = 60;
/// How much more than another a cgroup has to do to get its series: less would
/// have two of a kind alternate.
constexpr double clearly_more = 2;
/// Cgroups that are remembered of a series.
constexpr size_t most_ids = 64;
/// Cgroups without a series that are remembered.
constexpr size_t most_hidden = 1024;

const char *const way_names[] = {"read", "write"};

} // namespace

cgroup_shares::cgroup_shares(size_t most, path_of path, labels_of labels)
	: most_(most), path_(std::move(path)), labels_(std::move(labels))
{
}

void cgroup_shares::fade(double seconds)
{
	const double left = std::exp2(-std::max(seconds, 0.0) / half_life);

	for (auto &[path, one] : shown_)
		one.recent *= left;
	for (auto &[id, one] : hidden_)
		one.recent *= left;
}

/// A path that is there again, or that is another part's, is one series.
cgroup_shares::shown *cgroup_shares::find(uint64_t id)
{
	if (const auto known = known_.find(id); known != known_.end())
		return &known->second->second;
	if (hidden_.contains(id))
		return nullptr;

	const std::string path = path_(id);
	const auto same = shown_.find(path);

	if (path.empty() || same == shown_.end()) {
		hide(id, path, 0);
		return nullptr;
	}

	std::set<uint64_t> &ids = same->second.ids;

	// Those that were removed long ago have the lowest ids.
	if (ids.size() >= most_ids) {
		known_.erase(*ids.begin());
		ids.erase(ids.begin());
	}
	ids.insert(id);
	known_[id] = same;
	return &same->second;
}

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
	shown *one = find(task.cgroup);
	counts &to = one ? one->counted[socket] : other_[socket];
	double lines = 0;

	for (size_t way = 0; way < ways; way++) {
		to[way] += task.counts[way];
		lines += to_double(task.counts[way]);
	}
	(one ? one->recent : hidden_[task.cgroup].recent) += lines;
}

/// Most active first.
std::vector<std::pair<double, uint64_t>> cgroup_shares::candidates() const
{
	std::vector<std::pair<double, uint64_t>> order;

	for (const auto &[id, one] : hidden_)
		if (one.recent >= 1 && !one.path.empty())
			order.emplace_back(one.recent, id);
	std::sort(order.rbegin(), order.rend());
	return order;
}

/// Takes series from those that do least, before what they did since the last
/// scrape is added: no scrape would see it.
std::set<std::string> cgroup_shares::make_room()
{
	std::set<std::string> left;
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
		left.insert(least->first);
		hide(*least->second.ids.rbegin(), least->first,
		     least->second.recent);
		for (const uint64_t its : least->second.ids)
			known_.erase(its);
		shown_.erase(least);
		changes_++;
	}
	return left;
}

/// Gives series to those that do most, after what they did is in other.
void cgroup_shares::fill_room(const std::set<std::string> &but)
{
	for (const auto &[recent, id] : candidates()) {
		if (shown_.size() >= most_)
			return;

		const std::string path = hidden_[id].path;

		if (but.contains(path))
			continue;
		known_[id] =
			shown_.emplace(path, shown{{id}, recent, {}}).first;
		hidden_.erase(id);
	}
}

void cgroup_shares::forget_idle()
{
	std::erase_if(hidden_,
		      [](const auto &one) { return one.second.recent < 1; });
	while (hidden_.size() > most_hidden)
		hidden_.erase(std::min_element(
			hidden_.begin(), hidden_.end(),
			[](const auto &a, const auto &b) {
				return a.second.recent < b.second.recent;
			}));
}

void cgroup_shares::add(const account &taken, double seconds)
{
	std::set<uint64_t> in_other;

	fade(seconds);

	const std::set<std::string> left = make_room();

	for (const package_account &one : taken.packages) {
		for (size_t way = 0; way < ways; way++) {
			other_[one.id][way] += one.other[way];
			idle_[one.id][way] += fixed_count(one.idle[way])
					      << fixed_bits;
		}
		folded_ += one.merged + one.dropped;
	}
	for (const task_share &task : taken.tasks) {
		add_task(task, taken.packages[task.package].id);
		if (!known_.contains(task.cgroup))
			in_other.insert(task.cgroup);
	}
	in_other_ = in_other.size();
	fill_room(left);
	forget_idle();
}

void cgroup_shares::add_to(std::vector<family> &families) const
{
	family bytes{
		"uncore_cgroup_memory_bytes", family::kind::counter, "bytes",
		"Data that a socket's memory channels transferred, by the cgroup whose tasks ran then."};
	const auto put = [&bytes](const std::string &cgroup, int socket,
				  const counts &of,
				  const label_list &more = {}) {
		for (size_t way = 0; way < ways; way++) {
			label_list have = {{"socket", std::to_string(socket)},
					   {"cgroup", cgroup},
					   {"direction", way_names[way]}};

			have.insert(have.end(), more.begin(), more.end());
			bytes.samples.push_back(
				{std::move(have),
				 to_double(of[way]) * bytes_of_line});
		}
	};
	const auto single = [&families](const char *name, family::kind type,
					const char *help, double value) {
		families.push_back({name, type, "", help, {{{}, value}}});
	};

	for (const auto &[socket, counted] : other_) {
		for (const auto &[path, one] : shown_) {
			const auto its = one.counted.find(socket);

			put(path, socket,
			    its == one.counted.end() ? counts{} : its->second,
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
	       double(folded_));
}

} // namespace cli
