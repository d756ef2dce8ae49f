// SPDX-License-Identifier: GPL-2.0-or-later
// Containers and pods of cgroups: from their paths, as container runtimes and
// the kubelet name them, and from the kubelet's files for the names.
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

/// Names of pods and containers by the ids of containers.  A thread reads the
/// source again for ids that are not known: an address may take long to answer.
class container_names {
public:
	explicit container_names(pod_source source);
	~container_names();

	/// Errors: errc::system, errc::invalid.
	uncore::result<void> read();
	/// Add the names as far as they are known.  For an id that is not, the
	/// source is read again: at most every 5 seconds, and for the same id
	/// after twice the time before, up to 5 minutes.
	void add_to(container &of);
	/// How many ids without names are remembered.
	size_t unnamed() const { return unnamed_.size(); }

private:
	struct named {
		std::string pod_namespace, pod, name, pod_uid;
	};
	using names = std::map<std::string, named, std::less<>>;
	using clock = std::chrono::steady_clock;
	/// An id that the source does not have.
	struct absent {
		clock::time_point next, asked;
		clock::duration delay;
	};

	uncore::result<names> read_source() const;
	uncore::result<names> read_folder() const;
	uncore::result<names> read_list() const;
	uncore::result<names> take_list(const std::string &from) const;
	void want(const std::string &id);
	void work(const std::stop_token &end);

	const pod_source source_;
	std::map<std::string, absent, std::less<>> unnamed_;
	std::mutex lock_;     ///< of the next two
	names known_;	      ///< of the last list
	bool wanted_ = false; ///< is the thread to read?
	std::condition_variable_any wake_;
	std::jthread worker_; ///< from the first id that is not known on
};

} // namespace cli
