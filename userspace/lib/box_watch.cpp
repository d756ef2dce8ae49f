// SPDX-License-Identifier: LGPL-2.1-or-later
// Which boxes of a session are measured: cpumasks and the driver's statistics.
#include "box_watch.hpp"

#include <algorithm>
#include <utility>

#include <uncore/catalogue.hpp>

#include "format.hpp"
#include "sysfs.hpp"
#include "text.hpp"

namespace uncore {

namespace {

/// A CPU is online before the driver has its package's boxes back.
constexpr unsigned most_tries = 20;
constexpr std::chrono::nanoseconds between_tries = std::chrono::milliseconds(5);

/// A PMU's folder is bus/event_source/devices/NAME.
std::filesystem::path sysfs_of(const pmu_info &which)
{
	return which.folder.parent_path()
		.parent_path()
		.parent_path()
		.parent_path();
}

std::string name_of(const box_health &box)
{
	if (box.pmu && box.package >= 0)
		return uncore::format("{} of socket {}", box.pmu->name,
				      box.package);
	if (box.pmu)
		return box.pmu->name;
	return uncore::format("CPU {}", box.cpu);
}

} // namespace

bool is_clock(const event &counted, std::string_view generation)
{
	static constexpr std::string_view clocks[] = {
		"clockticks", "uclk", "dclk", "dclockticks", "bus_clocks"};
	const catalogue *known = catalogue::find(generation);

	if (!known || !counted.pmu || counted.pmu->driver == pmu_driver::other)
		return false;
	for (const std::string_view name : clocks)
		if (const auto *info = known->event(counted.pmu->box, name);
		    info && info->config == counted.config &&
		    !counted.config1 && !counted.config2)
			return true;
	return false;
}

std::string box_health::reason() const
{
	switch (condition) {
	case condition::counting:
		return "";
	case condition::disturbed:
		return uncore::format(
			"another program writes registers of socket {}",
			package);
	case condition::stopped:
		return uncore::format("the clock of {} has stopped",
				      name_of(*this));
	case condition::absent:
		return uncore::format("{} does not answer", name_of(*this));
	case condition::dead:
		return uncore::format("{} does not answer any more",
				      name_of(*this));
	case condition::offline:
		break;
	}
	return uncore::format("CPU {} went offline", cpu);
}

std::string reason_of(std::span<const box_health *const> boxes)
{
	const box_health *worst = nullptr;
	std::vector<std::string> reasons;

	for (const box_health *box : boxes) {
		if (box->condition == condition::counting)
			continue;

		// A CPU takes many boxes along.
		auto reason = box->reason();

		if (!std::count(reasons.begin(), reasons.end(), reason))
			reasons.push_back(std::move(reason));
		if (!worst || worst->condition < box->condition)
			worst = box;
	}
	if (reasons.size() < 2)
		return worst ? reasons.front() : "";
	return uncore::format("{} (and {} more)", worst->reason(),
			      reasons.size() - 1);
}

uint32_t box_watch::box_at(const pmu_info *which, int package, int cpu)
{
	auto found = std::find_if(
		total_.begin(), total_.end(), [&](const box_health &b) {
			return b.pmu == which && b.package == package &&
			       (b.cpu == cpu || (which && package >= 0));
		});

	if (found == total_.end()) {
		interval_.push_back({which, package, cpu});
		total_.push_back(interval_.back());
		said_.push_back(0);
		return total_.size() - 1;
	}
	return found - total_.begin();
}

int box_watch::package_of(const pmu_info &which, int cpu) const
{
	const int known = machine_.package_of(cpu);

	if (known >= 0)
		return known;

	// It came online since the machine was read.
	const auto text = read_text(
		sysfs_of(which) /
		uncore::format(
			"devices/system/cpu/cpu{}/topology/physical_package_id",
			cpu));
	const auto id = text ? parse_number(*text) : std::nullopt;

	return id ? int(*id) : -1;
}

bool box_watch::read_mask(watched_pmu &of)
{
	const auto text = backend_.changed(of.file);
	auto cpus = text ? parse_cpu_list(*text) : std::nullopt;

	if (cpus)
		of.cpus = *std::move(cpus);
	return cpus.has_value();
}

box_watch::watched_pmu &box_watch::watch(const pmu_info &which)
{
	for (watched_pmu &known : pmus_)
		if (known.which == &which)
			return known;
	pmus_.push_back(
		{&which, backend_.watch(which.folder / "cpumask"), which.cpus});
	read_mask(pmus_.back());
	return pmus_.back();
}

void box_watch::watch_package(const pmu_info &which, int package)
{
	if (which.driver != pmu_driver::xeon_uncore ||
	    std::any_of(
		    packages_.begin(), packages_.end(),
		    [&](const watched_package &p) { return p.id == package; }))
		return;
	packages_.push_back(
		{package,
		 backend_.watch(
			 sysfs_of(which) /
			 uncore::format(
				 "module/xeon_uncore/package{}/foreign_writes",
				 package)),
		 0});
	// Those of the past are not of these counts.
	(void)new_writes(packages_.back());
}

bool box_watch::is_chosen(int package) const
{
	return chosen_.empty() ||
	       std::count(chosen_.begin(), chosen_.end(), package);
}

box_watch::place box_watch::place_of(const pmu_info *which)
{
	place made;

	if (!which || which->driver == pmu_driver::other) {
		made.cpus = which && !which->cpus.empty() ? which->cpus
							  : machine_.cpus();
		std::vector<int> chosen;

		for (int cpu : made.cpus) {
			const int package = machine_.package_of(cpu);

			if (!is_chosen(package))
				continue;
			chosen.push_back(cpu);
			made.packages.push_back(package);
			// of each CPU, also where a PMU has several in a
			// package
			interval_.push_back({which, package, cpu});
			total_.push_back(interval_.back());
			said_.push_back(0);
			made.boxes.push_back(total_.size() - 1);
		}
		made.cpus = std::move(chosen);
		return made;
	}

	const watched_pmu &now = watch(*which);

	for (int cpu : now.cpus) {
		const int package = package_of(*which, cpu);

		if (!is_chosen(package))
			continue;
		made.cpus.push_back(cpu);
		made.packages.push_back(package);
		made.boxes.push_back(box_at(which, package, cpu));
		if (package >= 0)
			watch_package(*which, package);
	}
	for (const uncore::package &p : machine_.packages())
		if (is_chosen(p.id) && !std::count(made.packages.begin(),
						   made.packages.end(), p.id))
			worsen(box_at(which, p.id, -1), condition::absent);
	return made;
}

void box_watch::leave_out(place &from, std::span<const int> cpus)
{
	for (size_t i = from.cpus.size(); i-- > 0;) {
		if (!std::count(cpus.begin(), cpus.end(), from.cpus[i]))
			continue;
		total_[from.boxes[i]].cpu = interval_[from.boxes[i]].cpu = -1;
		worsen(from.boxes[i], condition::absent);
		from.cpus.erase(from.cpus.begin() + i);
		from.packages.erase(from.packages.begin() + i);
		from.boxes.erase(from.boxes.begin() + i);
	}
}

void box_watch::worsen(uint32_t box, condition now)
{
	const unsigned bit = 1u << unsigned(now);

	if (interval_[box].condition < now)
		interval_[box].condition = now;
	if (total_[box].measured() && now >= condition::absent)
		lost_.push_back(box);
	if (total_[box].condition < now)
		total_[box].condition = now;
	if (total_[box].condition == now && !(said_[box] & bit))
		pending_.emplace_back(box, now);
	said_[box] |= bit;
}

bool box_watch::is_in_mask(const watched_pmu &of, int package) const
{
	return std::any_of(of.cpus.begin(), of.cpus.end(), [&](int cpu) {
		return package_of(*of.which, cpu) == package;
	});
}

/// While a package's CPUs change, none of them may be in the mask.
bool box_watch::is_back(watched_pmu &of, int package)
{
	for (unsigned tries = 0; tries < most_tries; tries++) {
		backend_.wait(between_tries);
		if (read_mask(of) && is_in_mask(of, package))
			return true;
	}
	return false;
}

void box_watch::check_boxes(watched_pmu &of)
{
	if (!read_mask(of))
		return;
	for (uint32_t i = 0; i < total_.size(); i++) {
		const box_health &box = total_[i];

		if (box.pmu != of.which || !box.measured() ||
		    is_in_mask(of, box.package))
			continue;

		bool online = false;

		for (const uncore::package &p : machine_.packages())
			for (size_t c = 0; p.id == box.package && !online &&
					   c < p.cpus.size();
			     c++)
				online = backend_.is_online(p.cpus[c]);
		if (!online)
			worsen(i, condition::offline);
		else if (!is_back(of, box.package))
			worsen(i, condition::dead);
	}
}

/// @return whether there were more writes since the last time.
bool box_watch::new_writes(watched_package &of)
{
	const auto text = backend_.changed(of.file);
	const auto writes = text ? parse_number(trim(*text)) : std::nullopt;

	return writes && *writes > std::exchange(of.writes, *writes);
}

void box_watch::check_package(watched_package &of)
{
	if (!new_writes(of))
		return;
	for (uint32_t i = 0; i < total_.size(); i++)
		if (total_[i].package == of.id && total_[i].pmu &&
		    total_[i].pmu->driver == pmu_driver::xeon_uncore &&
		    total_[i].measured())
			worsen(i, condition::disturbed);
}

void box_watch::begin_interval()
{
	for (box_health &box : interval_)
		if (box.measured())
			box.condition = condition::counting;
}

std::span<const uint32_t> box_watch::check()
{
	lost_.clear();
	for (watched_pmu &one : pmus_)
		check_boxes(one);
	for (watched_package &one : packages_)
		check_package(one);
	return lost_;
}

std::string box_watch::line_of(condition what, std::span<const uint32_t> boxes)
{
	const box_health &first = total_[boxes.front()];
	const std::string name = first.pmu ? first.pmu->name : "";
	const std::string several =
		boxes.size() > 1
			? uncore::format("{} and {} more of socket {}", name,
					 boxes.size() - 1, first.package)
			: name_of(first);
	const char *s = boxes.size() > 1 ? "" : "s";

	switch (what) {
	case condition::disturbed:
		return uncore::format(
			"another program writes registers of socket {}: counts there may be too small (PCM, LIKWID, wrmsr, setpci? /sys/module/xeon_uncore/package{}/foreign_writes)",
			first.package, first.package);
	case condition::stopped:
		return uncore::format(
			"{} count{} nothing: the clock has stopped", several,
			s);
	case condition::absent:
		return uncore::format(
			"{} do{} not answer, and {} not counted (dmesg may tell why)",
			several, *s ? "es" : "", *s ? "is" : "are");
	case condition::dead:
		return uncore::format(
			"{} do{} not answer any more: counts stay as they are",
			several, *s ? "es" : "");
	default:
		break;
	}
	return uncore::format("CPU {} {}: what {} there is lost", first.cpu,
			      backend_.is_online(first.cpu)
				      ? "was offline for a while"
				      : "went offline",
			      !first.pmu ? "is counted"
			      : *s	 ? uncore::format("{} counts", name)
				   : uncore::format("{} and {} more count",
						    name, boxes.size() - 1));
}

std::vector<box_watch::news_line> box_watch::news()
{
	std::vector<news_line> lines;

	while (!pending_.empty()) {
		const auto first = pending_.front().first;
		const auto what = pending_.front().second;
		std::vector<uint32_t> boxes;

		std::erase_if(pending_, [&](const auto &other) {
			const bool same =
				other.second == what &&
				total_[other.first].package ==
					total_[first].package &&
				(what != condition::offline ||
				 total_[other.first].cpu == total_[first].cpu);

			if (same)
				boxes.push_back(other.first);
			return same;
		});
		lines.push_back({what, line_of(what, boxes)});
	}
	return lines;
}

} // namespace uncore
