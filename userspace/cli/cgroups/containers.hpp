// SPDX-License-Identifier: GPL-2.0-or-later
// Containers and pods of cgroups: ids from the paths that container runtimes
// and the kubelet choose, names from the kubelet's files.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <uncore/error.hpp>

#include "cgroups/pod_list.hpp"

namespace cli {

/// A container; unknown fields are empty.
struct container {
	/// Path of the container's own cgroup, which contains its further
	/// cgroups.
	std::string cgroup;
	std::string id;	     ///< 64 hexadecimal digits
	std::string pod_uid; ///< with hyphens; without for a static pod
	std::string pod_namespace, pod, name;

	bool operator==(const container &) const = default;
};

/// Parse the path of a cgroup of a container: of cgroup v1 or v2, of
/// containerd, CRI-O, docker or podman, by systemd or cgroupfs.
/// @return nothing for any other cgroup.
std::optional<container> container_of(std::string_view cgroup);

/// Names of pods and containers by the ids of containers.  A thread reads the
/// source again for unknown ids: an address may take long to answer.
class container_names {
public:
	explicit container_names(pod_source source);
	~container_names();

	/// Read the source.  Errors: errc::system, errc::invalid.
	uncore::result<void> read();
	/// Add the names of a container.  For an unknown id, the source is read
	/// again: at most every 5 seconds.  The interval for the same id
	/// doubles each time, up to 5 minutes.
	void add_to(container &target);
	/// Return the number of remembered ids without names.
	size_t unnamed() const { return unnamed_.size(); }

private:
	struct named {
		std::string pod_namespace, pod, name, pod_uid;
	};
	using names = std::map<std::string, named, std::less<>>;
	using clock = std::chrono::steady_clock;
	/// Id that the source lacks.
	struct absent {
		clock::time_point next, requested;
		clock::duration delay;
	};

	uncore::result<names> read_source() const;
	uncore::result<names> read_folder() const;
	uncore::result<names> read_list() const;
	uncore::result<names> take_list(const std::string &from) const;
	void request_read(const std::string &id);
	void work(const std::stop_token &end);

	const pod_source source_;
	std::map<std::string, absent, std::less<>> unnamed_;
	std::mutex lock_;	      ///< protects names_ and read_requested_
	names names_;		      ///< from the last list
	bool read_requested_ = false; ///< request to the thread
	std::condition_variable_any wake_;
	std::jthread worker_; ///< started for the first unknown id
};

} // namespace cli
