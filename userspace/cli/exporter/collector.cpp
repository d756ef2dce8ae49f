// SPDX-License-Identifier: GPL-2.0-or-later
// The counters of uncore serve: what is opened, and what it adds up to.
#include "exporter/collector.hpp"

#include <cmath>
#include <sys/stat.h>
#include <utility>

#include <fmt/format.h>

#include "common/cli.hpp"
#include "sysfs.hpp"

namespace cli {

using uncore::errc;
using clock = std::chrono::steady_clock;

namespace {

double seconds(clock::duration time)
{
	return std::chrono::duration<double>(time).count();
}

/// Does the machine just not have it?
bool is_missing(const uncore::error &failure)
{
	return failure.code != errc::no_driver && failure.code != errc::system;
}

/// What another driver's PMUs, or the same driver's when it is loaded again,
/// have other ones of: their folders' inodes.
std::string identity_of(const uncore::topology &machine)
{
	std::string all;

	for (const uncore::pmu &pmu : machine.pmus()) {
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

	for (const uncore::pmu &pmu : machine.pmus()) {
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

uncore::result<void> collector::choose(uncore::planner &plan, size_t index,
				       size_t event, bool &missing)
{
	const series &of = all_series()[index];
	const auto parsed = uncore::parse_events(
		fmt::format("{}/{}/", of.box, of.events[event].event),
		*machine_);

	missing = !parsed && is_missing(parsed.error());
	if (!parsed)
		return missing ? uncore::result<void>() : parsed.error();
	for (const uncore::event_group &group : *parsed) {
		const auto places = plan.add(group);

		missing = !places && is_missing(places.error());
		if (!places)
			return missing ? uncore::result<void>()
				       : places.error();
		const auto &events = group.terms.front().events;
		for (size_t i = 0; i < events.size(); i++) {
			events_.push_back(events[i]);
			placed_.push_back({index, event, &events_.back(),
					   places->front()[i]});
		}
	}
	return {};
}

/// All events that this machine has.
uncore::result<void> collector::choose(uncore::planner &plan)
{
	for (size_t f = 0; f < all_series().size(); f++) {
		std::vector<std::string_view> lacking;

		for (size_t e = 0; e < all_series()[f].events.size(); e++) {
			const counted_event &event = all_series()[f].events[e];
			bool missing = false;

			if (!event.instead_of.empty() &&
			    std::find(lacking.begin(), lacking.end(),
				      event.instead_of) == lacking.end())
				continue;
			if (auto done = choose(plan, f, e, missing); !done)
				return done;
			if (missing)
				lacking.push_back(event.event);
		}
	}
	return {};
}

uncore::result<void> collector::try_open()
{
	auto machine = uncore::topology::read(options_.sysfs);

	close();
	if (!machine)
		return machine.error();
	machine_ = *std::move(machine);
	if (machine_->pmus().empty())
		return uncore::error{errc::no_driver,
				     "no uncore driver is loaded ('uncore "
				     "check' says what to do)"};
	cpus_ = uncore::read_text(cpus_file_).value_or("");
	driver_ = identity_of(*machine_);

	uncore::planner plan(*machine_);

	if (auto chosen = choose(plan); !chosen)
		return chosen;

	auto opened = uncore::session::open(std::move(plan).finish(), *machine_,
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
	for (const placed &one : placed_) {
		const uncore::pmu *pmu = one.what->pmu;

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

	if (!opened)
		close();
	problem_ = opened ? "" : opened.error().message;
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
			0};
	counters_.clear();
	placed_.clear();
	events_.clear();
	open_.clear();
	dead_.clear();
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
	}
}

/// What the session has found.  A CPU that left took events with it, which are
/// to be opened anew.
void collector::find_dead()
{
	for (const std::string &line : session_->news())
		say(line);
	for (const uncore::box_health &box :
	     session_->health(uncore::period::total)) {
		if (box.condition == uncore::condition::dead ||
		    box.condition == uncore::condition::absent)
			dead_.emplace(box.pmu, box.package);
		if (box.condition == uncore::condition::offline && !lost_) {
			errors_++;
			lost_ = true;
		}
	}
}

double collector::interval(const std::string &box, int package) const
{
	const auto found = times_.find({box, package});

	return found == times_.end() ? 0 : found->second.interval;
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
			       tallies_.at(where).total(),
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
		find_dead();
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
