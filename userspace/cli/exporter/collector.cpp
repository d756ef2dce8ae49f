// SPDX-License-Identifier: GPL-2.0-or-later
// The counters of uncore serve: what is opened, and what it adds up to.
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

/// How often counters that could not be opened are tried again.
constexpr std::chrono::seconds try_time{1};

/// A word for why counters cannot be opened.
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

/// What another driver's PMUs, or the same driver's when it is loaded again,
/// have other ones of: their folders' inodes.
std::string identity_of(const uncore::topology &machine)
{
	std::string all;

	for (const uncore::pmu_info &pmu : machine.pmus()) {
		struct stat status;

		if (!stat(pmu.folder.c_str(), &status))
			fmt::format_to(std::back_inserter(all), "{} ",
				       uint64_t(status.st_ino));
	}
	return all;
}

/// Which boxes there are on which sockets.
std::string layout_of(const uncore::topology &machine)
{
	std::string all;

	for (const uncore::pmu_info &pmu : machine.pmus()) {
		all += pmu.name;
		for (const int cpu : pmu.cpus)
			fmt::format_to(std::back_inserter(all), " {}",
				       machine.package_of(cpu));
		all += '\n';
	}
	return all;
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
		if (auto beside = options_.side->start(); !beside)
			return beside;
	session_ = *std::move(opened);
	lost_ = false;
	for (const uncore::package &one : machine_->packages())
		written_[one.id] = foreign_writes(one.id);
	for (const chosen_event &one : chosen_.chosen) {
		const uncore::pmu_info *pmu = one.what->pmu;

		for (size_t c = 0; c < session_->cpus(one.id).size(); c++) {
			const int package = session_->package(one.id, c);
			const place where = {one.family, one.event,
					     pmu->instance.value_or(0),
					     package};

			counters_.push_back({one.id, c, &tallies_[where],
					     &times_[{pmu->box, package}],
					     one.what, package});
			open_[where] = pmu;
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

/// What was counted so far is kept.
void collector::close()
{
	if (options_.side)
		options_.side->stop();
	for (auto &[where, count] : tallies_)
		count = {count.total(), 0};
	for (auto &[where, time] : times_)
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

void collector::take_counts()
{
	for (auto &[where, time] : times_)
		time.enabled.now = time.running.now = time.interval = 0;

	struct recent {
		double enabled = 0, running = 0;
		size_t events = 0;
	};
	std::map<times *, recent> lately;

	for (const counter &one : counters_) {
		const auto all = session_->total(one.id, one.cpu_index);
		const auto last = session_->interval(one.id, one.cpu_index);
		recent &sum = lately[one.time];

		// Not a number as long as it never ran.
		if (std::isfinite(all.value))
			one.count->now = all.value;
		one.time->enabled.now += seconds(all.enabled);
		one.time->running.now += seconds(all.running);
		sum.enabled += seconds(last.enabled);
		sum.running += seconds(last.running);
		sum.events++;
	}
	for (const auto &[time, sum] : lately) {
		time->share = sum.enabled > 0 ? sum.running / sum.enabled : 1;
		time->interval = sum.enabled / double(sum.events);
		time->elapsed += time->interval;
	}
}

/// What the session has found at the last read.  A CPU that left took events
/// with it, which are to be opened anew.
void collector::find_down()
{
	const auto before = std::exchange(down_, {});
	std::vector<const uncore::box_health *> worse;

	// Clocks of an idle socket stop as well: that is not for the log.
	(void)session_->news();
	for (const uncore::box_health &box :
	     session_->health(uncore::period::total)) {
		if (box.condition == uncore::condition::dead ||
		    box.condition == uncore::condition::absent) {
			down_[{box.pmu, box.package}] = "dead";
			if (!before.contains({box.pmu, box.package}))
				worse.push_back(&box);
		}
		if (box.condition == uncore::condition::offline && !lost_) {
			errors_++;
			lost_ = true;
		}
	}
	if (!worse.empty())
		say(fmt::format("{}: no series", uncore::reason_of(worse)));
	find_frozen(before);
}

/// Boxes of which nothing counts, since another program has stopped them.  An
/// idle socket's clocks stop as well, so that xeon_uncore has to have found a
/// foreign write; it starts single boxes again itself.  intel_uncore does not
/// look, but while a socket's counters are read its clocks run.
void collector::find_frozen(const std::map<box_at, std::string> &before)
{
	const bool looks = finds_foreign_writes();
	std::set<int> counting, stopped;

	for (const counter &one : counters_)
		if (session_->interval(one.id, one.cpu_index).value > 0)
			counting.insert(one.package);
	for (const uncore::box_health &box :
	     session_->health(uncore::period::interval)) {
		if (box.condition != uncore::condition::stopped)
			continue;
		if (!looks && counting.contains(box.package))
			down_.try_emplace({box.pmu, box.package}, "stopped");
		if (!counting.contains(box.package) &&
		    (!looks ||
		     foreign_writes(box.package) > written_[box.package]))
			stopped.insert(box.package);
	}
	// After a short while that alone does not say so.
	for (const auto &[box, reason] : before)
		if (reason == "stopped" && !counting.contains(box.second))
			stopped.insert(box.second);
	for (const auto &[where, pmu] : open_)
		if (stopped.contains(where.package))
			down_.try_emplace({pmu, where.package}, "stopped");
	report_stopped(before);
}

/// A line for each socket of which boxes have stopped lately.
void collector::report_stopped(
	const std::map<box_at, std::string> &before) const
{
	std::map<int, std::vector<std::string>> lately;

	for (const auto &[box, reason] : down_)
		if (reason == "stopped" && !before.contains(box))
			lately[box.second].push_back(box.first->name);
	for (const auto &[package, names] : lately) {
		std::string which = names.front();

		if (!is_measured(package))
			which = "the boxes";
		else if (names.size() > 1)
			which += fmt::format(" and {} more", names.size() - 1);
		say(fmt::format(
			"another program has stopped {} of socket {}: no series",
			which, package));
	}
}

bool collector::finds_foreign_writes() const
{
	return !machine_->pmus().empty() &&
	       machine_->pmus().front().driver ==
		       uncore::pmu_driver::xeon_uncore;
}

/// As the driver counts them; 0 where it does not.
double collector::foreign_writes(int package) const
{
	const auto text = uncore::read_text(
		options_.sysfs /
		fmt::format("module/xeon_uncore/package{}/foreign_writes",
			    package));

	return text ? std::strtod(text->c_str(), nullptr) : 0;
}

/// Does any box of a socket count?
bool collector::is_measured(int package) const
{
	return std::any_of(open_.begin(), open_.end(), [&](const auto &one) {
		return one.first.package == package &&
		       !down_.contains({one.second, package});
	});
}

double collector::interval(const std::string &box, int package) const
{
	const auto found = times_.find({box, package});

	return found == times_.end() ? 0 : found->second.interval;
}

double collector::elapsed(const std::string &box, int package) const
{
	const auto found = times_.find({box, package});

	return found == times_.end() ? 0 : found->second.elapsed;
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
	std::vector<box_count> all;

	all.reserve(open_.size());
	for (const auto &[where, pmu] : open_) {
		const series &of = all_series()[where.family];

		all.push_back({&of, &of.events[where.event], pmu, where.package,
			       down_.contains({pmu, where.package})
				       ? std::nan("")
				       : tallies_.at(where).total(),
			       times_.at({pmu->box, where.package}).share});
	}
	return all;
}

void collector::check_released()
{
	auto now = uncore::topology::read(options_.sysfs);

	if (!now || now->pmus().empty() || identity_of(*now) == released_)
		return;
	resume();
}

/// Is it the machine still on which the counters were opened?  A CPU that goes
/// hands its socket's events to another; only with the last one do they go.
void collector::check_machine()
{
	const std::string cpus = uncore::read_text(cpus_file_).value_or("");

	if (!released_.empty())
		return check_released();
	if (session_ && !lost_ && identity_of(*machine_) == driver_) {
		if (cpus == cpus_)
			return;

		auto now = uncore::topology::read(options_.sysfs);

		if (now && layout_of(*now) == layout_of(*machine_)) {
			machine_ = *std::move(now);
			cpus_ = cpus;
			moves_++;
			return;
		}
	}
	if (session_ || clock::now() - tried_ >= try_time)
		(void)open();
}

void collector::lose(const uncore::error &why)
{
	say(why.message);
	errors_++;
	lost_ = true;
}

void collector::tend()
{
	if (!wants_tending() || lost_)
		return;
	if (const auto done = options_.side->tend(); !done)
		lose(done.error());
}

std::vector<family> collector::read()
{
	const auto start = clock::now();

	reads_++;
	if (session_) {
		const auto done = session_->read();

		take_counts();
		find_down();
		if (!done && done.error().code != errc::gone)
			lose(done.error());
		if (options_.side)
			if (const auto beside = options_.side->take(); !beside)
				lose(beside.error());
	}

	const std::string before = problem_;

	check_machine();
	if (!session_)
		errors_++;
	if (problem_ != before && !problem_.empty())
		say(problem_);
	duration_ = seconds(clock::now() - start);
	return families();
}

} // namespace cli
