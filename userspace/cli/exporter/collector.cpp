// SPDX-License-Identifier: GPL-2.0-or-later
// The counters of uncore serve: opening, reading and summing.
#include "exporter/collector.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sys/stat.h>
#include <utility>

#include <fmt/format.h>

#include "output/machine.hpp"
#include "output/message.hpp"
#include "sysfs.hpp"

namespace cli {

using uncore::errc;
using clock = std::chrono::steady_clock;

namespace {

/// Shortest time between two attempts to open counters.
constexpr std::chrono::seconds try_time{1};

/// Return the label value for an error of opening the counters.
const char *reason_of(const uncore::error &failure)
{
	switch (failure.code) {
	case errc::no_driver:
		return "no_driver";
	case errc::permission:
		return "permission";
	case errc::gone:
		return "gone";
	default:
		return "error";
	}
}

double seconds(clock::duration time)
{
	return std::chrono::duration<double>(time).count();
}

/// Identify the loaded driver by the inodes of its PMUs' folders in sysfs.  The inodes
/// change when another driver is loaded, or the same driver again.
std::string identity_of(const uncore::topology &machine)
{
	std::string inodes;

	for (const uncore::pmu_info &pmu : machine.pmus()) {
		struct stat status;

		if (!stat(pmu.folder.c_str(), &status))
			fmt::format_to(std::back_inserter(inodes), "{} ",
				       uint64_t(status.st_ino));
	}
	return inodes;
}

/// List the boxes and their sockets.
std::string layout_of(const uncore::topology &machine)
{
	std::string layout;

	for (const uncore::pmu_info &pmu : machine.pmus()) {
		layout += pmu.name;
		for (const int cpu : pmu.cpus)
			fmt::format_to(std::back_inserter(layout), " {}",
				       machine.package_of(cpu));
		layout += '\n';
	}
	return layout;
}

} // namespace

collector::collector(collector_options options)
	: options_(std::move(options)),
	  cpus_file_(options_.sysfs / "devices/system/cpu/online")
{
}

uncore::result<void> collector::try_open()
{
	auto machine = uncore::topology::read(options_.sysfs);

	close();
	if (!machine)
		return machine.error();
	machine_ = *std::move(machine);
	unsupported_ = machine_->generation().empty() &&
		       std::filesystem::exists(options_.sysfs /
					       "devices/system/cpu/modalias");
	if (unsupported_)
		return uncore::error{
			errc::unsupported,
			fmt::format(
				"{} is not supported: it has no counters that uncore knows ('uncore check' lists processors)",
				cpuinfo_field("/proc", "model name")
					.value_or("this processor"))};
	if (machine_->pmus().empty())
		return uncore::error{
			errc::no_driver,
			"no uncore driver is loaded ('uncore check' says what to do)"};
	cpus_ = uncore::read_text(cpus_file_).value_or("");
	driver_ = identity_of(*machine_);

	auto chosen = choose_events(*machine_, bool(options_.side));

	if (!chosen)
		return chosen.error();
	chosen_ = *std::move(chosen);

	auto opened = uncore::session::open(chosen_.plan, *machine_,
					    {.visit_packages = true});

	if (!opened)
		return opened.error();
	if (auto started = opened->enable(); !started)
		return started;
	if (options_.side)
		if (auto started = options_.side->start(); !started)
			return started;
	session_ = *std::move(opened);
	lost_ = false;
	for (const uncore::package &socket : machine_->packages())
		written_[socket.id] = foreign_writes(socket.id);
	for (const chosen_event &selected : chosen_.chosen) {
		const uncore::pmu_info *pmu = selected.what->pmu;

		for (size_t c = 0; c < session_->cpus(selected.id).size();
		     c++) {
			const int package = session_->package(selected.id, c);
			const place key = {selected.family, selected.event,
					   pmu->instance.value_or(0), package};

			counters_.push_back({selected.id, c, &tallies_[key],
					     &times_[{pmu->box, package}],
					     selected.what, package});
			open_[key] = pmu;
		}
	}
	opens_++;
	return {};
}

uncore::result<void> collector::open()
{
	auto opened = try_open();

	tried_ = clock::now();
	if (!opened)
		close();
	problem_ = opened ? "" : opened.error().message;
	reason_ = opened	 ? ""
		  : unsupported_ ? "unsupported"
				 : reason_of(opened.error());
	return opened;
}

/// Close the counters and keep the counts so far.
void collector::close()
{
	if (options_.side)
		options_.side->stop();
	for (auto &[key, count] : tallies_)
		count = {count.total(), 0};
	for (auto &[key, time] : times_)
		time = {{time.enabled.total(), 0},
			{time.running.total(), 0},
			1,
			0,
			0};
	counters_.clear();
	chosen_ = {};
	open_.clear();
	down_.clear();
	session_.reset();
}

void collector::release()
{
	if (session_ && !session_->read())
		errors_++;
	take_counts();
	released_ = driver_;
	close();
	problem_ = "the counters are released, for another driver to be loaded";
	reason_ = "released";
}

void collector::resume()
{
	released_.clear();
	if (!session_)
		(void)open();
}

/// Take the counts and times of the session's last read.
void collector::take_counts()
{
	for (auto &[key, time] : times_)
		time.enabled.now = time.running.now = time.interval = 0;

	struct recent {
		double enabled = 0, running = 0;
		size_t events = 0;
	};
	std::map<times *, recent> sums;

	for (const counter &entry : counters_) {
		const auto total = session_->total(entry.id, entry.cpu_index);
		const auto last = session_->interval(entry.id, entry.cpu_index);
		recent &sum = sums[entry.time];

		// NaN until the event has run.
		if (std::isfinite(total.value))
			entry.count->now = total.value;
		entry.time->enabled.now += seconds(total.enabled);
		entry.time->running.now += seconds(total.running);
		sum.enabled += seconds(last.enabled);
		sum.running += seconds(last.running);
		sum.events++;
	}
	for (const auto &[time, sum] : sums) {
		time->share = sum.enabled > 0 ? sum.running / sum.enabled : 1;
		time->interval = sum.enabled / double(sum.events);
		time->elapsed += time->interval;
	}
}

/// Find the boxes that the last read did not measure.  If a socket's last CPU went
/// offline, its events are lost: check_machine() opens all counters again.
void collector::find_down()
{
	const auto down_before = std::exchange(down_, {});
	std::vector<const uncore::box_health *> worse;

	// Drop the session's own messages.  They also report a socket whose clocks
	// have stopped because it is idle.
	(void)session_->news();
	for (const uncore::box_health &box :
	     session_->health(uncore::period::total)) {
		if (box.condition == uncore::condition::dead ||
		    box.condition == uncore::condition::absent) {
			down_[{box.pmu, box.package}] = "dead";
			if (!down_before.contains({box.pmu, box.package}))
				worse.push_back(&box);
		}
		if (box.condition == uncore::condition::offline && !lost_) {
			errors_++;
			lost_ = true;
		}
	}
	if (!worse.empty())
		say(fmt::format("{}: no series", uncore::reason_of(worse)));
	find_frozen(down_before);
}

/// Find the boxes that another program has stopped.  A clock that does not count is not
/// enough, as the clocks of an idle socket stop, too.
/// xeon_uncore counts foreign writes, and restarts a single box itself.  A socket on
/// which nothing counts is stopped if there was a foreign write since the counters were
/// opened.
/// intel_uncore does not count foreign writes.  There a box whose clock does not count is
/// stopped, as the clocks of a socket run while its counters are read.
void collector::find_frozen(const std::map<box_at, std::string> &down_before)
{
	const bool detects_writes = finds_foreign_writes();
	std::set<int> counting, stopped;

	for (const counter &entry : counters_)
		if (session_->interval(entry.id, entry.cpu_index).value > 0)
			counting.insert(entry.package);
	for (const uncore::box_health &box :
	     session_->health(uncore::period::interval)) {
		if (box.condition != uncore::condition::stopped)
			continue;
		if (!detects_writes && counting.contains(box.package))
			down_.try_emplace({box.pmu, box.package}, "stopped");
		if (!counting.contains(box.package) &&
		    (!detects_writes ||
		     foreign_writes(box.package) > written_[box.package]))
			stopped.insert(box.package);
	}
	// A box that was stopped at the last read stays stopped until any box of
	// its socket counts.
	for (const auto &[box, reason] : down_before)
		if (reason == "stopped" && !counting.contains(box.second))
			stopped.insert(box.second);
	for (const auto &[key, pmu] : open_)
		if (stopped.contains(key.package))
			down_.try_emplace({pmu, key.package}, "stopped");
	report_stopped(down_before);
}

/// Log a line for each socket whose boxes have stopped since the read before.
void collector::report_stopped(
	const std::map<box_at, std::string> &down_before) const
{
	std::map<int, std::vector<std::string>> stopped;

	for (const auto &[box, reason] : down_)
		if (reason == "stopped" && !down_before.contains(box))
			stopped[box.second].push_back(box.first->name);
	for (const auto &[package, names] : stopped) {
		std::string subject = names.front();

		if (!is_measured(package))
			subject = "the boxes";
		else if (names.size() > 1)
			subject +=
				fmt::format(" and {} more", names.size() - 1);
		say(fmt::format(
			"another program has stopped {} of socket {}: no series",
			subject, package));
	}
}

bool collector::finds_foreign_writes() const
{
	return !machine_->pmus().empty() &&
	       machine_->pmus().front().driver ==
		       uncore::pmu_driver::xeon_uncore;
}

/// Return the driver's count of foreign writes; 0 if the driver has none.
double collector::foreign_writes(int package) const
{
	const auto text = uncore::read_text(
		options_.sysfs /
		fmt::format("module/xeon_uncore/package{}/foreign_writes",
			    package));

	return text ? std::strtod(text->c_str(), nullptr) : 0;
}

/// Tell whether any box of a socket is measured.
bool collector::is_measured(int package) const
{
	return std::any_of(open_.begin(), open_.end(), [&](const auto &entry) {
		return entry.first.package == package &&
		       !down_.contains({entry.second, package});
	});
}

double collector::interval(const std::string &box, int package) const
{
	const auto entry = times_.find({box, package});

	return entry == times_.end() ? 0 : entry->second.interval;
}

double collector::elapsed(const std::string &box, int package) const
{
	const auto entry = times_.find({box, package});

	return entry == times_.end() ? 0 : entry->second.elapsed;
}

void collector::say(const std::string &message) const
{
	if (options_.say)
		options_.say(message);
	else
		note(message);
}

std::vector<box_count> collector::counts() const
{
	std::vector<box_count> list;

	list.reserve(open_.size());
	for (const auto &[key, pmu] : open_) {
		const series &definition = all_series()[key.family];

		list.push_back({&definition, &definition.events[key.event], pmu,
				key.package,
				down_.contains({pmu, key.package})
					? std::nan("")
					: tallies_.at(key).total(),
				times_.at({pmu->box, key.package}).share});
	}
	return list;
}

/// After release(): open the counters if another driver, or the same driver again, has
/// been loaded.
void collector::check_released()
{
	auto machine = uncore::topology::read(options_.sysfs);

	if (!machine || machine->pmus().empty() ||
	    identity_of(*machine) == released_)
		return;
	resume();
}

/// Open the counters again if the driver or the boxes have changed.  When a CPU goes
/// offline, the kernel moves its events to another CPU of the socket, and the counters
/// stay open.  Only with the last CPU of a socket the events are lost.
void collector::check_machine()
{
	const std::string cpus = uncore::read_text(cpus_file_).value_or("");

	if (!released_.empty())
		return check_released();
	if (session_ && !lost_ && identity_of(*machine_) == driver_) {
		if (cpus == cpus_)
			return;

		auto machine = uncore::topology::read(options_.sysfs);

		if (machine && layout_of(*machine) == layout_of(*machine_)) {
			machine_ = *std::move(machine);
			cpus_ = cpus;
			moves_++;
			return;
		}
	}
	if (session_ || clock::now() - tried_ >= try_time)
		(void)open();
}

/// Report a failure after which the counters have to be opened again.
void collector::lose(const uncore::error &failure)
{
	say(failure.message);
	errors_++;
	lost_ = true;
}

void collector::tend()
{
	if (!wants_tending() || lost_)
		return;
	if (const auto tended = options_.side->tend(); !tended)
		lose(tended.error());
}

std::vector<family> collector::read()
{
	const auto start = clock::now();

	reads_++;
	if (session_) {
		const auto outcome = session_->read();

		take_counts();
		find_down();
		if (!outcome && outcome.error().code != errc::gone)
			lose(outcome.error());
		if (options_.side)
			if (const auto taken = options_.side->take(); !taken)
				lose(taken.error());
	}

	const std::string last_problem = problem_;

	check_machine();
	if (!session_)
		errors_++;
	if (problem_ != last_problem && !problem_.empty())
		say(problem_);
	duration_ = seconds(clock::now() - start);
	return families();
}

} // namespace cli
