// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfdata/profile.hpp"

#include <algorithm>
#include <string_view>

#include <uncore/catalogue.hpp>

#include "terminal/text.hpp"

namespace cli {

profile::profile(const perf_file &file, const uncore::topology *machine)
	: file_(file), machine_(machine)
{
	std::vector<profile_event> all;
	std::map<std::string, size_t> places;
	std::vector<size_t> place_of;

	find_weights();
	for (const file_event &event : file_.events) {
		std::string name = without_box(event);
		const auto [at, is_new] = places.try_emplace(name, all.size());

		if (is_new)
			all.emplace_back().name = std::move(name);
		place_of.push_back(at->second);
	}
	for (const file_sample &s : file_.samples) {
		profile_event &event = all[place_of[s.event]];

		event.samples.push_back(&s);
		event.counts += counts_of(s);
		event.cpus.insert(int(s.cpu));
	}
	std::erase_if(all, [](const profile_event &event) {
		return event.samples.empty();
	});
	events_ = std::move(all);
}

int profile::socket_of(uint32_t cpu) const
{
	if (!file_.sockets.empty())
		return cpu < file_.sockets.size() ? file_.sockets[cpu] : -1;
	return machine_ ? machine_->package_of(int(cpu)) : -1;
}

/// "" if the file does not have it.
std::string profile::pmu_of(const file_event &event) const
{
	const auto at = file_.pmus.find(event.attr.type);

	return at == file_.pmus.end() ? "" : at->second;
}

/// Whether each CPU of a socket samples the same counts.
bool profile::is_uncore(const file_event &event) const
{
	const std::string name = pmu_of(event);
	const auto all = uncore::catalogue::generations();
	const std::string_view prefix =
		std::string_view(name).substr(0, name.find('_'));

	return prefix == "uncore" ||
	       std::find(all.begin(), all.end(), prefix) != all.end() ||
	       (machine_ && !machine_->match(name).empty());
}

/// An event that was opened on several boxes is one event: record puts a blank
/// and the box's PMU behind its name.
std::string profile::without_box(const file_event &event) const
{
	const std::string pmu = pmu_of(event);
	std::string name = event.name;

	if (!pmu.empty() && name.ends_with(' ' + pmu))
		name.resize(name.size() - pmu.size() - 1);
	return printable(name);
}

/// Each sampled CPU of a socket has samples of all that a box counts.  The box
/// has counted what the CPU with the most counts has: others may have been
/// offline or have lost samples.
void profile::find_weights()
{
	std::map<std::pair<size_t, int>, std::map<uint32_t, uint64_t>> counts;
	std::vector<bool> shared;

	for (const file_event &event : file_.events)
		shared.push_back(is_uncore(event));
	for (const file_sample &s : file_.samples)
		if (shared[s.event])
			counts[{s.event, socket_of(s.cpu)}][s.cpu] += s.period;
	for (const auto &[place, cpus] : counts) {
		uint64_t most = 0;
		long double sum = 0;

		for (const auto &[cpu, count] : cpus) {
			most = std::max(most, count);
			sum += count;
		}
		if (sum > 0)
			weights_[place] = most / sum;
	}
}

long double profile::counts_of(const file_sample &sample) const
{
	const auto at = weights_.find({sample.event, socket_of(sample.cpu)});

	return sample.period * (at == weights_.end() ? 1 : at->second);
}

} // namespace cli
