// SPDX-License-Identifier: GPL-2.0-or-later
// The memory traffic of cgroups for uncore serve: attribution divides it among tasks, as
// for uncore top, for as long as the program runs.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "attribution/attribution.hpp"
#include "attribution/cgroup_names.hpp"
#include "cgroups/cgroup_shares.hpp"
#include "cgroups/containers.hpp"
#include "exporter/collector.hpp"

namespace cli {

class cgroup_traffic : public side_counters {
public:
	/// @param most limit of the cgroups with a series; all cgroups of a
	/// container share a series.
	cgroup_traffic(std::filesystem::path sysfs, size_t most,
		       pod_source pods);

	/// Read the names of pods.  Errors: those of container_names::read().
	uncore::result<void> read_names() { return containers_.read(); }

	/// Errors: those of attribution::start(); errc::unsupported (no cgroup
	/// file system, no memory channels).
	uncore::result<void> start() override;
	void stop() override;
	uncore::result<void> tend() override;
	uncore::result<void> take() override;
	void add_to(std::vector<family> &families) const override;

private:
	std::string path_of(uint64_t id);
	cgroup_shares::label_list labels_of(const std::string &path);

	std::filesystem::path sysfs_;
	cgroup_names names_;
	container_names containers_;
	cgroup_shares shares_;
	/// Topology that the accounts refer to.
	std::optional<uncore::topology> machine_;
	std::unique_ptr<attribution> programs_;
	std::chrono::steady_clock::time_point taken_at_{};
};

} // namespace cli
