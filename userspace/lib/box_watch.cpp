// SPDX-License-Identifier: LGPL-2.1-or-later
// Health of a session's boxes, from cpumasks and the driver's statistics.
#include "box_watch.hpp"

#include <algorithm>
#include <utility>

#include <uncore/catalogue.hpp>

#include "format.hpp"
#include "packages.hpp"
#include "sysfs.hpp"
#include "text.hpp"

namespace uncore {

namespace {

/// Polls of a cpumask until a package is back, and the time between two polls.
/// When the last CPU of a package goes offline and comes back, it is online
/// before the driver puts it into the cpumasks of the package's boxes.
constexpr unsigned most_tries = 20;
constexpr std::chrono::nanoseconds between_tries = std::chrono::milliseconds(5);

/// Return the root of sysfs: a PMU's folder is bus/event_source/devices/NAME.
std::filesystem::path sysfs_of(const pmu_info &pmu)
{
	return pmu.folder.parent_path()
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

bool is_clock(const event &event, std::string_view generation)
{
	static constexpr std::string_view clocks[] = {
		"clockticks", "uclk", "dclk", "dclockticks", "bus_clocks"};
	const catalogue *names = catalogue::find(generation);

	if (!names || !event.pmu || event.pmu->driver == pmu_driver::other)
		return false;
	for (const std::string_view name : clocks)
		if (const auto *info = names->event(event.pmu->box, name);
		    info && info->config == event.config && !event.config1 &&
		    !event.config2)
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

		// All boxes of an offline CPU have the same reason.
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

/// Find the number of a box, or give it the next number.
uint32_t box_watch::box_at(const pmu_info *pmu, int package, int cpu)
{
	auto box = std::find_if(
		total_.begin(), total_.end(), [&](const box_health &b) {
			return b.pmu == pmu && b.package == package &&
			       (b.cpu == cpu || (pmu && package >= 0));
		});

	if (box == total_.end()) {
		interval_.push_back({pmu, package, cpu});
		total_.push_back(interval_.back());
		reported_.push_back(0);
		return total_.size() - 1;
	}
	return box - total_.begin();
}

int box_watch::package_of(const pmu_info &pmu, int cpu) const
{
	const int package = machine_.package_of(cpu);

	if (package >= 0)
		return package;

	// The CPU came online after the topology was read.
	const std::vector<uncore::package> packages =
		read_packages(sysfs_of(pmu));
	const uncore::package *socket = find_package(packages, cpu);

	return socket ? socket->id : -1;
}

/// Read a PMU's cpumask if it has changed.
/// @return false if the cpumask has not changed.
bool box_watch::read_mask(watched_pmu &pmu)
{
	const auto text = backend_.changed(pmu.file);
	auto cpus = text ? parse_cpu_list(*text) : std::nullopt;

	if (cpus)
		pmu.cpus = *std::move(cpus);
	return cpus.has_value();
}

box_watch::watched_pmu &box_watch::watch(const pmu_info &pmu)
{
	for (watched_pmu &watched : pmus_)
		if (watched.pmu == &pmu)
			return watched;
	pmus_.push_back(
		{&pmu, backend_.watch(pmu.folder / "cpumask"), pmu.cpus});
	read_mask(pmus_.back());
	return pmus_.back();
}

/// Watch a package's foreign_writes, which only xeon_uncore has.
void box_watch::watch_package(const pmu_info &pmu, int package)
{
	if (pmu.driver != pmu_driver::xeon_uncore ||
	    std::any_of(
		    packages_.begin(), packages_.end(),
		    [&](const watched_package &p) { return p.id == package; }))
		return;
	packages_.push_back(
		{package,
		 backend_.watch(
			 sysfs_of(pmu) /
			 uncore::format(
				 "module/xeon_uncore/package{}/foreign_writes",
				 package)),
		 0});
	// Take the present number as read: earlier writes did not disturb the
	// counts of this session.
	(void)new_writes(packages_.back());
}

bool box_watch::is_chosen(int package) const
{
	return chosen_.empty() ||
	       std::count(chosen_.begin(), chosen_.end(), package);
}

box_watch::place box_watch::place_of(const pmu_info *pmu)
{
	place counted;

	if (!pmu || pmu->driver == pmu_driver::other) {
		counted.cpus =
			pmu && !pmu->cpus.empty() ? pmu->cpus : machine_.cpus();
		std::vector<int> chosen;

		for (int cpu : counted.cpus) {
			const int package = machine_.package_of(cpu);

			if (!is_chosen(package))
				continue;
			chosen.push_back(cpu);
			counted.packages.push_back(package);
			// Each CPU has its own number.  box_at() would give all
			// CPUs of a package in a PMU's cpumask the same one.
			interval_.push_back({pmu, package, cpu});
			total_.push_back(interval_.back());
			reported_.push_back(0);
			counted.boxes.push_back(total_.size() - 1);
		}
		counted.cpus = std::move(chosen);
		return counted;
	}

	const watched_pmu &watched = watch(*pmu);

	for (int cpu : watched.cpus) {
		const int package = package_of(*pmu, cpu);

		if (!is_chosen(package))
			continue;
		counted.cpus.push_back(cpu);
		counted.packages.push_back(package);
		counted.boxes.push_back(box_at(pmu, package, cpu));
		if (package >= 0)
			watch_package(*pmu, package);
	}
	// A package that the cpumask does not have has a box that does not
	// answer.
	for (const uncore::package &p : machine_.packages())
		if (is_chosen(p.id) &&
		    !std::count(counted.packages.begin(),
				counted.packages.end(), p.id))
			worsen(box_at(pmu, p.id, -1), condition::absent);
	return counted;
}

void box_watch::leave_out(place &counted, std::span<const int> cpus)
{
	for (size_t i = counted.cpus.size(); i-- > 0;) {
		if (!std::count(cpus.begin(), cpus.end(), counted.cpus[i]))
			continue;
		total_[counted.boxes[i]].cpu = interval_[counted.boxes[i]].cpu =
			-1;
		worsen(counted.boxes[i], condition::absent);
		counted.cpus.erase(counted.cpus.begin() + i);
		counted.packages.erase(counted.packages.begin() + i);
		counted.boxes.erase(counted.boxes.begin() + i);
	}
}

void box_watch::worsen(uint32_t box, condition change)
{
	const unsigned bit = 1u << unsigned(change);

	if (interval_[box].condition < change)
		interval_[box].condition = change;
	if (total_[box].measured() && change >= condition::absent)
		lost_.push_back(box);
	if (total_[box].condition < change)
		total_[box].condition = change;
	if (total_[box].condition == change && !(reported_[box] & bit))
		pending_.emplace_back(box, change);
	reported_[box] |= bit;
}

bool box_watch::is_in_mask(const watched_pmu &pmu, int package) const
{
	return std::any_of(pmu.cpus.begin(), pmu.cpus.end(), [&](int cpu) {
		return package_of(*pmu.pmu, cpu) == package;
	});
}

/// Wait until a package is in the mask again: while its CPUs change, the mask
/// may have none of its CPUs.
bool box_watch::is_back(watched_pmu &pmu, int package)
{
	for (unsigned tries = 0; tries < most_tries; tries++) {
		backend_.wait(between_tries);
		if (read_mask(pmu) && is_in_mask(pmu, package))
			return true;
	}
	return false;
}

/// Find boxes that have disappeared from the cpumask.  If no CPU of the package
/// is online, the CPUs are the cause, and the box is not dead.
void box_watch::check_boxes(watched_pmu &pmu)
{
	if (!read_mask(pmu))
		return;
	for (uint32_t i = 0; i < total_.size(); i++) {
		const box_health &box = total_[i];

		if (box.pmu != pmu.pmu || !box.measured() ||
		    is_in_mask(pmu, box.package))
			continue;

		bool online = false;

		for (const uncore::package &p : machine_.packages())
			for (size_t c = 0; p.id == box.package && !online &&
					   c < p.cpus.size();
			     c++)
				online = backend_.is_online(p.cpus[c]);
		if (!online)
			worsen(i, condition::offline);
		else if (!is_back(pmu, box.package))
			worsen(i, condition::dead);
	}
}

/// Check whether the number of other programs' writes has grown since the last
/// call.
bool box_watch::new_writes(watched_package &package)
{
	const auto text = backend_.changed(package.file);
	const auto writes = text ? parse_number(trim(*text)) : std::nullopt;

	return writes && *writes > std::exchange(package.writes, *writes);
}

/// Mark all boxes of a package as disturbed if another program wrote registers:
/// the file does not say which box.
void box_watch::check_package(watched_package &package)
{
	if (!new_writes(package))
		return;
	for (uint32_t i = 0; i < total_.size(); i++)
		if (total_[i].package == package.id && total_[i].pmu &&
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
	for (watched_pmu &watched : pmus_)
		check_boxes(watched);
	for (watched_package &watched : packages_)
		check_package(watched);
	return lost_;
}

/// Describe a change of several boxes of a package for the user.
std::string box_watch::line_of(condition change,
			       std::span<const uint32_t> boxes)
{
	const box_health &first = total_[boxes.front()];
	const std::string name = first.pmu ? first.pmu->name : "";
	const std::string subject =
		boxes.size() > 1
			? uncore::format("{} and {} more of socket {}", name,
					 boxes.size() - 1, first.package)
			: name_of(first);
	const char *verb_ending = boxes.size() > 1 ? "" : "s";

	switch (change) {
	case condition::disturbed:
		return uncore::format(
			"another program writes registers of socket {}: counts there may be too small (PCM, LIKWID, wrmsr, setpci? /sys/module/xeon_uncore/package{}/foreign_writes)",
			first.package, first.package);
	case condition::stopped:
		return uncore::format(
			"{} count{} nothing: the clock has stopped", subject,
			verb_ending);
	case condition::absent:
		return uncore::format(
			"{} do{} not answer, and {} not counted (dmesg may tell why)",
			subject, *verb_ending ? "es" : "",
			*verb_ending ? "is" : "are");
	case condition::dead:
		return uncore::format(
			"{} do{} not answer any more: counts stay as they are",
			subject, *verb_ending ? "es" : "");
	default:
		break;
	}
	return uncore::format(
		"CPU {} {}: what {} there is lost", first.cpu,
		backend_.is_online(first.cpu) ? "was offline for a while"
					      : "went offline",
		!first.pmu     ? "is counted"
		: *verb_ending ? uncore::format("{} counts", name)
			       : uncore::format("{} and {} more count", name,
						boxes.size() - 1));
}

std::vector<box_watch::news_line> box_watch::news()
{
	std::vector<news_line> lines;

	while (!pending_.empty()) {
		const auto first = pending_.front().first;
		const auto change = pending_.front().second;
		std::vector<uint32_t> boxes;

		// Take all boxes of the package with the same change; for CPUs
		// that went offline, those of the same CPU.
		std::erase_if(pending_, [&](const auto &entry) {
			const bool same =
				entry.second == change &&
				total_[entry.first].package ==
					total_[first].package &&
				(change != condition::offline ||
				 total_[entry.first].cpu == total_[first].cpu);

			if (same)
				boxes.push_back(entry.first);
			return same;
		});
		lines.push_back({change, line_of(change, boxes)});
	}
	return lines;
}

} // namespace uncore
