// SPDX-License-Identifier: GPL-2.0-or-later
// Containers and pods of cgroups: from their paths, as container runtimes and
// the kubelet name them, and from the kubelet's files for the names.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <uncore/error.hpp>

#include "cgroups/pod_list.hpp"

namespace cli {

/// Empty where it is not known.
struct container {
	/// The container's own cgroup: those that it makes below are its parts.
	std::string cgroup;
	std::string id;	     ///< 64 hexadecimal digits
	std::string pod_uid; ///< with hyphens, or of a static pod without
	std::string pod_namespace, pod, name;

	bool operator==(const container &) const = default;
};

/// Paths of cgroup v1 and v2, of containerd, CRI-O, docker and podman, by
/// systemd or cgroupfs.  Nothing for a cgroup that is not a container's.
std::optional<container> container_of(std::string_view cgroup);

/// Names of pods and containers by the ids of containers.
class container_names {
public:
	explicit container_names(pod_source source);

	/// Errors: errc::system, errc::invalid; for the start.
	uncore::result<void> check();
	/// Adds the names.  The source is read again, not too often, for an id
	/// that is not known.
	void add_to(container &of);

private:
	struct named {
		std::string pod_namespace, pod, name, pod_uid;
	};
	using clock = std::chrono::steady_clock;

	uncore::result<void> read();
	uncore::result<void> read_folder();
	uncore::result<void> read_list();
	uncore::result<void> take_list(const std::string &from);

	pod_source source_;
	std::map<std::string, named, std::less<>> known_;
	std::optional<clock::time_point> read_at_;
};

} // namespace cli
