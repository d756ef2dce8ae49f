// SPDX-License-Identifier: GPL-2.0-or-later
// What uncore serve has counted, and what it knows of the machine and of
// itself, as families of samples.
#include "exporter/collector.hpp"

#include <cmath>
#include <cstdio>
#include <dirent.h>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>

#include <uncore/catalogue.hpp>
#include <uncore/version.hpp>

#include "output/machine.hpp"

namespace cli {

namespace {

using kind = family::kind;
using labels = decltype(sample::labels);

family single(kind type, std::string name, std::string unit, std::string help,
	      double value)
{
	return {std::move(name),
		type,
		std::move(unit),
		std::move(help),
		{{{}, value}}};
}

/// Seconds after the machine's start, of processes.
double ticks(double count)
{
	return count / double(sysconf(_SC_CLK_TCK));
}

double boot_time()
{
	std::ifstream file("/proc/stat");
	std::string word;
	double value = 0;

	while (file >> word)
		if (word == "btime" && file >> value)
			return value;
	return std::nan("");
}

size_t open_files()
{
	DIR *folder = opendir("/proc/self/fd");
	size_t n = 0;

	if (!folder)
		return 0;
	while (const dirent *one = readdir(folder))
		n += one->d_name[0] != '.';
	closedir(folder);
	return n - 1; // the folder's own
}

/// As every exporter names them.
void add_process(std::vector<family> &to)
{
	std::ifstream file("/proc/self/stat");
	std::string text;
	unsigned long user = 0, kernel = 0, size = 0;
	unsigned long long start = 0;
	long resident = 0;

	std::getline(file, text);
	// The name, in brackets, may hold anything.
	text.erase(0, text.rfind(')') + 1);
	if (std::sscanf(
		    text.c_str(),
		    " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %llu %lu %ld",
		    &user, &kernel, &start, &size, &resident) != 5)
		return;
	to.push_back(single(kind::counter, "process_cpu_seconds", "seconds",
			    "Processor time of the exporter.",
			    ticks(double(user) + double(kernel))));
	to.push_back(single(kind::gauge, "process_start_time_seconds",
			    "seconds", "When the exporter was started.",
			    boot_time() + ticks(double(start))));
	to.push_back(single(kind::gauge, "process_resident_memory_bytes",
			    "bytes", "Resident memory of the exporter.",
			    double(resident) * double(sysconf(_SC_PAGESIZE))));
	to.push_back(single(kind::gauge, "process_open_fds", "",
			    "Open files of the exporter.",
			    double(open_files())));
}

} // namespace

bool collector::has_package(int id) const
{
	const auto all = machine_->packages();

	return std::any_of(
		all.begin(), all.end(),
		[id](const uncore::package &one) { return one.id == id; });
}

family collector::counts_of(size_t index) const
{
	const series &of = all_series()[index];
	const instance_label *told = instance_label_of(of.box);
	family made{std::string(of.name), kind::counter, std::string(of.unit),
		    std::string(of.help)};
	/// Where the sample of some labels is.
	std::map<labels, size_t> known;
	/// Is any of its boxes measured?  A sum continues without those that
	/// are not, and a series of these alone ends.
	std::vector<bool> measured;

	for (auto it = tallies_.lower_bound({index, 0, 0, INT32_MIN});
	     it != tallies_.end() && it->first.family == index; ++it) {
		const auto &[where, count] = *it;
		const counted_event &event = of.events[where.event];

		if (!has_package(where.package))
			continue;

		labels have = {{"socket", std::to_string(where.package)}};

		if (told && (told->always || options_.per_box))
			have.emplace_back(told->name,
					  std::to_string(where.instance));
		for (const label &one : event.labels)
			have.emplace_back(one.name, one.value);
		const auto [at, is_new] =
			known.try_emplace(have, made.samples.size());

		if (is_new) {
			made.samples.push_back({std::move(have), 0});
			measured.push_back(false);
		}
		made.samples[at->second].value += count.total() * event.factor;

		const auto open = open_.find(where);

		if (open == open_.end() ||
		    !down_.contains({open->second, where.package}))
			measured[at->second] = true;
	}

	size_t at = 0;

	std::erase_if(made.samples,
		      [&](const sample &) { return !measured[at++]; });
	return made;
}

void collector::add_times(std::vector<family> &to) const
{
	family enabled{
		"uncore_events_enabled_seconds", kind::counter, "seconds",
		"Time for which events were to be counted, summed over a socket's events of a box type."};
	family running{
		"uncore_events_running_seconds", kind::counter, "seconds",
		"Time for which they were; less where others use the counters too, and counts are then scaled."};
	family ratio{
		"uncore_events_running_ratio", kind::gauge, "ratio",
		"The part of the time since the last read that events were counted."};

	for (const auto &[where, time] : times_) {
		const labels have = {{"socket", std::to_string(where.second)},
				     {"box", where.first}};

		if (!has_package(where.second))
			continue;
		enabled.samples.push_back({have, time.enabled.total()});
		running.samples.push_back({have, time.running.total()});
		ratio.samples.push_back({have, time.share});
	}
	to.push_back(std::move(enabled));
	to.push_back(std::move(running));
	to.push_back(std::move(ratio));
}

void collector::add_machine(std::vector<family> &to) const
{
	static const std::string model =
		cpuinfo_field("/proc", "model name").value_or("");
	family info{"uncore", kind::info, "",
		    "The machine, the driver and the exporter."};
	family cpus{"uncore_socket_cpus", kind::gauge, "",
		    "Online CPUs of a socket."};
	family boxes{"uncore_socket_boxes", kind::gauge, "",
		     "Boxes of a type that a socket has."};
	std::map<std::pair<int, std::string>, unsigned> counts;

	if (!machine_)
		return;
	for (const uncore::package &one : machine_->packages())
		cpus.samples.push_back({{{"socket", std::to_string(one.id)}},
					double(one.cpus.size())});
	for (const uncore::pmu_info &pmu : machine_->pmus())
		for (const int cpu : pmu.cpus)
			counts[{machine_->package_of(cpu), pmu.box}]++;
	for (const auto &[where, n] : counts)
		boxes.samples.push_back(
			{{{"socket", std::to_string(where.first)},
			  {"box", where.second}},
			 double(n)});

	const char *driver = machine_->pmus().empty()
				     ? ""
				     : driver_name(machine_->pmus()[0].driver);

	info.samples.push_back(
		{{{"version", std::string(uncore::version())},
		  {"driver", driver},
		  {"machine", std::string(machine_->generation())},
		  {"model", model}},
		 1});
	to.push_back(std::move(info));
	to.push_back(std::move(cpus));
	to.push_back(std::move(boxes));
}

void collector::add_own(std::vector<family> &to) const
{
	to.push_back(single(
		kind::counter, "uncore_reads", "",
		"Times that the counters were read; scrapes that follow within 50 ms share one.",
		double(reads_)));
	to.push_back(
		single(kind::counter, "uncore_read_errors", "",
		       "Reads at which counters were not there, or were lost.",
		       double(errors_)));
	to.push_back(single(kind::counter, "uncore_opens", "",
			    "Times that the counters were opened.",
			    double(opens_)));
	to.push_back(single(kind::gauge, "uncore_scrape_duration_seconds",
			    "seconds", "How long the last read took.",
			    duration_));
	if (options_.process)
		add_process(to);
}

/// Sockets are known without a driver as well.
void collector::add_up(std::vector<family> &to) const
{
	family sockets{"uncore_socket_up", kind::gauge, "",
		       "Whether a socket's counters are open and count."};
	family down{"uncore_down", kind::info, "", "Why no counters are open."};

	to.push_back(single(kind::gauge, "uncore_up", "",
			    "Whether the counters are open.",
			    session_ ? 1 : 0));
	if (machine_)
		for (const uncore::package &one : machine_->packages())
			sockets.samples.push_back(
				{{{"socket", std::to_string(one.id)}},
				 session_ && is_measured(one.id) ? 1.0 : 0.0});
	if (!session_)
		down.samples.push_back(
			{{{"reason", reason_}, {"message", problem_}}, 1});
	to.push_back(std::move(sockets));
	to.push_back(std::move(down));
}

/// A box that is not measured has a 0, while its series are absent.
void collector::add_boxes(std::vector<family> &to) const
{
	family up{"uncore_box_up", kind::gauge, "",
		  "Whether a box is measured."};
	family down{"uncore_box_down", kind::info, "",
		    "Why a box is not measured."};
	boxes counted;

	for (const auto &[where, pmu] : open_)
		counted.emplace(pmu, where.package);
	for (const auto &[box, reason] : down_)
		counted.insert(box);
	for (const auto &[pmu, package] : counted) {
		if (!pmu)
			continue;

		const auto found = down_.find({pmu, package});
		labels have = {
			{"socket", std::to_string(package)},
			{"box", pmu->box},
			{"number", std::to_string(pmu->instance.value_or(0))}};

		up.samples.push_back({have, found == down_.end() ? 1.0 : 0.0});
		if (found == down_.end())
			continue;
		have.emplace_back("reason", found->second);
		down.samples.push_back({std::move(have), 1});
	}
	to.push_back(std::move(up));
	to.push_back(std::move(down));
}

/// The driver counts register writes that are not its own.
void collector::add_foreign(std::vector<family> &to) const
{
	family writes{
		"uncore_foreign_writes", kind::counter, "",
		"Times that the driver found registers of a socket written by another program: counts may be too small."};

	if (finds_foreign_writes())
		for (const uncore::package &one : machine_->packages())
			writes.samples.push_back(
				{{{"socket", std::to_string(one.id)}},
				 foreign_writes(one.id)});
	to.push_back(std::move(writes));
}

std::vector<family> collector::families() const
{
	std::vector<family> all;

	add_up(all);
	add_machine(all);
	if (session_) {
		for (size_t i = 0; i < all_series().size(); i++)
			if (family made = counts_of(i); !made.samples.empty())
				all.push_back(std::move(made));
		add_boxes(all);
		add_foreign(all);
		add_times(all);
		if (options_.side)
			options_.side->add_to(all);
	}
	add_own(all);
	return all;
}

} // namespace cli
