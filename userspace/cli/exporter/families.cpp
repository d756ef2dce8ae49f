// SPDX-License-Identifier: GPL-2.0-or-later
// The families of samples that uncore serve exports: the counts of boxes, the machine's
// properties, and the exporter's own state.
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

/// Convert clock ticks of /proc/self/stat to seconds.
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
	while (const dirent *entry = readdir(folder))
		n += entry->d_name[0] != '.';
	closedir(folder);
	return n - 1; // less the folder's own descriptor
}

/// Add the process metrics under the names that all Prometheus exporters use.
void add_process(std::vector<family> &list)
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
	list.push_back(single(kind::counter, "process_cpu_seconds", "seconds",
			      "Processor time of the exporter.",
			      ticks(double(user) + double(kernel))));
	list.push_back(single(kind::gauge, "process_start_time_seconds",
			      "seconds", "When the exporter was started.",
			      boot_time() + ticks(double(start))));
	list.push_back(
		single(kind::gauge, "process_resident_memory_bytes", "bytes",
		       "Resident memory of the exporter.",
		       double(resident) * double(sysconf(_SC_PAGESIZE))));
	list.push_back(single(kind::gauge, "process_open_fds", "",
			      "Open files of the exporter.",
			      double(open_files())));
}

} // namespace

bool collector::has_package(int id) const
{
	const auto packages = machine_->packages();

	return std::any_of(packages.begin(), packages.end(),
			   [id](const uncore::package &package) {
				   return package.id == id;
			   });
}

family collector::counts_of(size_t index) const
{
	const series &definition = all_series()[index];
	const instance_label *box_label = instance_label_of(definition.box);
	family exported{std::string(definition.name), kind::counter,
			std::string(definition.unit),
			std::string(definition.help)};
	/// Index of the sample by its labels.
	std::map<labels, size_t> indices;
	/// By sample: is any of its boxes measured?  A sample that is a sum of
	/// several boxes stays without the counts of unmeasured boxes.  A sample
	/// without measured boxes is left out.
	std::vector<bool> measured;

	for (auto it = tallies_.lower_bound({index, 0, 0, INT32_MIN});
	     it != tallies_.end() && it->first.family == index; ++it) {
		const auto &[key, count] = *it;
		const counted_event &event = definition.events[key.event];

		if (!has_package(key.package))
			continue;

		labels sample_labels = {
			{"socket", std::to_string(key.package)}};

		if (box_label && (box_label->always || options_.per_box))
			sample_labels.emplace_back(
				box_label->name, std::to_string(key.instance));
		for (const label &entry : event.labels)
			sample_labels.emplace_back(entry.name, entry.value);
		const auto [position, is_new] = indices.try_emplace(
			sample_labels, exported.samples.size());

		if (is_new) {
			exported.samples.push_back(
				{std::move(sample_labels), 0});
			measured.push_back(false);
		}
		exported.samples[position->second].value +=
			count.total() * event.factor;

		const auto open = open_.find(key);

		if (open == open_.end() ||
		    !down_.contains({open->second, key.package}))
			measured[position->second] = true;
	}

	size_t position = 0;

	std::erase_if(exported.samples,
		      [&](const sample &) { return !measured[position++]; });
	return exported;
}

void collector::add_times(std::vector<family> &list) const
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

	for (const auto &[key, time] : times_) {
		const labels sample_labels = {
			{"socket", std::to_string(key.second)},
			{"box", key.first}};

		if (!has_package(key.second))
			continue;
		enabled.samples.push_back(
			{sample_labels, time.enabled.total()});
		running.samples.push_back(
			{sample_labels, time.running.total()});
		ratio.samples.push_back({sample_labels, time.share});
	}
	list.push_back(std::move(enabled));
	list.push_back(std::move(running));
	list.push_back(std::move(ratio));
}

void collector::add_machine(std::vector<family> &list) const
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
	for (const uncore::package &socket : machine_->packages())
		cpus.samples.push_back({{{"socket", std::to_string(socket.id)}},
					double(socket.cpus.size())});
	for (const uncore::pmu_info &pmu : machine_->pmus())
		for (const int cpu : pmu.cpus)
			counts[{machine_->package_of(cpu), pmu.box}]++;
	for (const auto &[key, n] : counts)
		boxes.samples.push_back({{{"socket", std::to_string(key.first)},
					  {"box", key.second}},
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
	list.push_back(std::move(info));
	list.push_back(std::move(cpus));
	list.push_back(std::move(boxes));
}

void collector::add_own(std::vector<family> &list) const
{
	list.push_back(single(
		kind::counter, "uncore_reads", "",
		"Times that the counters were read; scrapes that follow within 50 ms share one.",
		double(reads_)));
	list.push_back(
		single(kind::counter, "uncore_read_errors", "",
		       "Reads at which counters were not there, or were lost.",
		       double(errors_)));
	list.push_back(single(kind::counter, "uncore_opens", "",
			      "Times that the counters were opened.",
			      double(opens_)));
	list.push_back(single(kind::gauge, "uncore_scrape_duration_seconds",
			      "seconds", "How long the last read took.",
			      duration_));
	if (options_.process)
		add_process(list);
}

/// Add the state of the counters and sockets.  Sockets are known from sysfs also when no
/// driver is loaded.
void collector::add_up(std::vector<family> &list) const
{
	family sockets{"uncore_socket_up", kind::gauge, "",
		       "Whether a socket's counters are open and count."};
	family down{"uncore_down", kind::info, "", "Why no counters are open."};

	list.push_back(single(kind::gauge, "uncore_up", "",
			      "Whether the counters are open.",
			      session_ ? 1 : 0));
	if (machine_)
		for (const uncore::package &socket : machine_->packages())
			sockets.samples.push_back(
				{{{"socket", std::to_string(socket.id)}},
				 session_ && is_measured(socket.id) ? 1.0
								    : 0.0});
	if (!session_)
		down.samples.push_back(
			{{{"reason", reason_}, {"message", problem_}}, 1});
	list.push_back(std::move(sockets));
	list.push_back(std::move(down));
}

/// Add uncore_box_up: 1 for a measured box, 0 for a box that is not measured and has no
/// series.
void collector::add_boxes(std::vector<family> &list) const
{
	family up{"uncore_box_up", kind::gauge, "",
		  "Whether a box is measured."};
	family down{"uncore_box_down", kind::info, "",
		    "Why a box is not measured."};
	boxes counted;

	for (const auto &[key, pmu] : open_)
		counted.emplace(pmu, key.package);
	for (const auto &[box, reason] : down_)
		counted.insert(box);
	for (const auto &[pmu, package] : counted) {
		if (!pmu)
			continue;

		const auto entry = down_.find({pmu, package});
		labels sample_labels = {
			{"socket", std::to_string(package)},
			{"box", pmu->box},
			{"number", std::to_string(pmu->instance.value_or(0))}};

		up.samples.push_back(
			{sample_labels, entry == down_.end() ? 1.0 : 0.0});
		if (entry == down_.end())
			continue;
		sample_labels.emplace_back("reason", entry->second);
		down.samples.push_back({std::move(sample_labels), 1});
	}
	list.push_back(std::move(up));
	list.push_back(std::move(down));
}

/// Add the driver's count of foreign register writes.
void collector::add_foreign(std::vector<family> &list) const
{
	family writes{
		"uncore_foreign_writes", kind::counter, "",
		"Times that the driver found registers of a socket written by another program: counts may be too small."};

	if (finds_foreign_writes())
		for (const uncore::package &socket : machine_->packages())
			writes.samples.push_back(
				{{{"socket", std::to_string(socket.id)}},
				 foreign_writes(socket.id)});
	list.push_back(std::move(writes));
}

std::vector<family> collector::families() const
{
	std::vector<family> list;

	add_up(list);
	add_machine(list);
	if (session_) {
		for (size_t i = 0; i < all_series().size(); i++)
			if (family exported = counts_of(i);
			    !exported.samples.empty())
				list.push_back(std::move(exported));
		add_boxes(list);
		add_foreign(list);
		add_times(list);
		if (options_.side)
			options_.side->add_to(list);
	}
	add_own(list);
	return list;
}

} // namespace cli
