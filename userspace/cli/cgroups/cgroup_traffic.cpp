// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroups/cgroup_traffic.hpp"

#include "attribution/top_columns.hpp"
#include "output/message.hpp"
#include "terminal/text.hpp"

namespace cli {

namespace {

/// Shortest time between two reads of a package's counters.  uncore top reads 10 times as
/// often.  uncore serve always runs, so reads should cost less; and between two scrapes
/// there are many seconds, so less exact reads are enough.
constexpr std::chrono::milliseconds resolution{1};

} // namespace

cgroup_traffic::cgroup_traffic(std::filesystem::path sysfs, size_t most,
			       pod_source pods)
	: sysfs_(std::move(sysfs)), containers_(std::move(pods)),
	  shares_(
		  most, [this](uint64_t id) { return path_of(id); },
		  [this](const std::string &path) { return labels_of(path); })
{
}

/// Return the path of a cgroup's series.  Cgroups below a container share the
/// container's path.  Cgroups whose paths differ only in bytes that labels
/// cannot have share a path, too.
std::string cgroup_traffic::path_of(uint64_t id)
{
	std::string path = printable(names_.path(id));
	auto owner = container_of(path);

	return owner ? std::move(owner->cgroup) : path;
}

cgroup_shares::label_list cgroup_traffic::labels_of(const std::string &path)
{
	auto owner = container_of(path);
	cgroup_shares::label_list labels;

	if (!owner)
		return labels;
	containers_.add_to(*owner);
	// Prometheus treats an empty label like an absent label.
	for (const auto &[name, value] :
	     {std::pair("namespace", &owner->pod_namespace),
	      std::pair("pod", &owner->pod),
	      std::pair("container", &owner->name),
	      std::pair("pod_uid", &owner->pod_uid),
	      std::pair("container_id", &owner->id)})
		if (!value->empty())
			labels.emplace_back(name, *value);
	return labels;
}

uncore::result<void> cgroup_traffic::start()
{
	auto machine = uncore::topology::read(sysfs_);
	attribution_options options;
	top_settings columns;

	options.resolution = resolution;
	stop();
	if (!machine)
		return machine.error();
	if (!names_.are_there())
		return uncore::error{
			uncore::errc::unsupported,
			"no file system of cgroups is mounted here, which --cgroups needs: mount -t cgroup2 none /sys/fs/cgroup"};
	machine_ = *std::move(machine);
	if (auto added = add_columns({reads_and_writes(*machine_)}, {},
				     *machine_, options.columns, columns);
	    !added)
		return added;

	auto started = attribution::start(std::move(options), *machine_);

	if (!started)
		return started.error();
	programs_ = *std::move(started);
	taken_at_ = std::chrono::steady_clock::now();
	return {};
}

/// Stop the programs, after a last take().
void cgroup_traffic::stop()
{
	if (!programs_)
		return;
	programs_->stop();
	if (auto taken = take(); !taken)
		note(taken.error().message);
	programs_.reset();
}

uncore::result<void> cgroup_traffic::tend()
{
	return programs_ ? programs_->tend() : uncore::result<void>();
}

uncore::result<void> cgroup_traffic::take()
{
	if (!programs_)
		return {};

	const auto now = std::chrono::steady_clock::now();
	auto taken = programs_->take();

	if (!taken)
		return taken.error();
	for (const std::string &warning : taken->warnings)
		note(warning);
	shares_.add(*taken,
		    std::chrono::duration<double>(now - taken_at_).count());
	taken_at_ = now;
	return {};
}

void cgroup_traffic::add_to(std::vector<family> &families) const
{
	shares_.add_to(families);
}

} // namespace cli
