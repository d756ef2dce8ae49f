// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroups/containers.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cli {

using uncore::errc;

namespace {

/// Shortest time between two reads of the source of names.  Longest time between two reads
/// that are caused by the same unknown container; the time doubles up to this limit.
constexpr std::chrono::seconds read_time{5}, most_delay{300};
/// Limits of the remembered containers without names: their number, and the time since the
/// last request for the name.
constexpr size_t most_unnamed = 1024;
constexpr std::chrono::minutes unnamed_time{10};
/// Limit of a list of pods in bytes, far above the size of any list.
constexpr uintmax_t most_bytes = 64 << 20;
/// Characters of a container's id, of the uid of a static pod (one that the kubelet starts
/// from a file), and of the uid of another pod, with hyphens.
constexpr size_t id_length = 64, static_uid_length = 32, uid_length = 36;

bool is_hex(std::string_view text)
{
	return std::all_of(text.begin(), text.end(), [](unsigned char c) {
		return std::isdigit(c) || (c >= 'a' && c <= 'f');
	});
}

bool is_id(std::string_view text)
{
	return text.size() == id_length && is_hex(text);
}

/// Convert a pod's uid from its form in paths of cgroups.  systemd does not allow
/// hyphens in the middle of names, so that the uid has underscores there.
/// @return "" if the text is not a uid.
std::string uid_of(std::string_view text)
{
	std::string uid(text);

	std::replace(uid.begin(), uid.end(), '_', '-');
	if (uid.size() == static_uid_length && is_hex(uid))
		return uid;
	if (uid.size() != uid_length)
		return "";
	for (size_t i = 0; i < uid.size(); i++) {
		const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;

		if (hyphen ? uid[i] != '-' : !is_hex(uid.substr(i, 1)))
			return "";
	}
	return uid;
}

void remove_suffix(std::string_view &text, std::string_view suffix)
{
	if (text.ends_with(suffix))
		text.remove_suffix(suffix.size());
}

/// Return the uid in a part of a path: "pod<uid>",
/// "kubepods-burstable-pod<uid>.slice".
std::string uid_in(std::string_view part)
{
	const size_t position = part.rfind("pod");

	remove_suffix(part, ".slice");
	if (position == part.npos || (position && part[position - 1] != '-'))
		return "";
	return uid_of(part.substr(position + 3));
}

/// Return the container id in a part of a path: "<id>",
/// "cri-containerd-<id>.scope", "crio-<id>", "docker-<id>.scope",
/// "libpod-<id>.scope".  Helpers of a container, such as
/// "crio-conmon-<id>.scope", have no id.
std::string_view id_in(std::string_view part)
{
	static constexpr std::string_view runtimes[] = {
		"", "cri-containerd-", "crio-", "docker-", "libpod-"};

	remove_suffix(part, ".scope");
	for (const std::string_view runtime : runtimes)
		if (part.starts_with(runtime) &&
		    is_id(part.substr(runtime.size())))
			return part.substr(runtime.size());
	return {};
}

/// Cut off the text before the next @p end, and @p end itself.
std::string_view cut(std::string_view &rest, char end)
{
	const size_t position = rest.find(end);
	const std::string_view first = rest.substr(0, position);

	rest.remove_prefix(position == rest.npos ? rest.size() : position + 1);
	return first;
}

} // namespace

std::optional<container> container_of(std::string_view cgroup)
{
	container result;
	size_t begin = 0;

	// Containers may be nested: a cluster's node may itself be a container, and
	// a container may start containers.  Take the last pod in the path, and
	// the first container below it.
	while (begin < cgroup.size()) {
		const size_t end =
			std::min(cgroup.find('/', begin + 1), cgroup.size());
		std::string_view part = cgroup.substr(begin, end - begin);
		const bool slash = part.starts_with('/');

		part.remove_prefix(slash);

		// With a systemd path for the cgroupfs driver, containerd
		// creates "<slice>:cri-containerd:<id>".
		if (const size_t colon = part.rfind(":cri-containerd:");
		    colon != part.npos && is_id(part.substr(colon + 16))) {
			result.pod_uid = uid_in(part.substr(0, colon));
			result.id = part.substr(colon + 16);
			result.cgroup = cgroup.substr(0, end);
		} else if (std::string uid = uid_in(part); !uid.empty()) {
			result = {};
			result.pod_uid = std::move(uid);
		} else if (const auto id = id_in(part);
			   !id.empty() && result.id.empty()) {
			result.id = id;
			result.cgroup = cgroup.substr(0, end);
		}
		begin = end;
	}
	if (result.id.empty())
		return std::nullopt;
	return result;
}

container_names::container_names(pod_source source) : source_(std::move(source))
{
}

container_names::~container_names() = default;

uncore::result<container_names::names> container_names::read_source() const
{
	std::error_code failed;

	if (source_.where.empty())
		return names();
	if (is_address(source_.where)) {
		const auto list = get_pod_list(source_);

		if (!list)
			return list.error();
		return take_list(*list);
	}
	return std::filesystem::is_directory(source_.where, failed)
		       ? read_folder()
		       : read_list();
}

uncore::result<void> container_names::read()
{
	auto list = read_source();

	if (!list)
		return list.error();

	const std::scoped_lock guard(lock_);

	names_ = *std::move(list);
	return {};
}

/// Read names from a folder of "<pod>_<namespace>_<container>-<id>.log".
uncore::result<container_names::names> container_names::read_folder() const
{
	names entries;
	std::error_code failed;

	for (std::filesystem::directory_iterator it(source_.where, failed), end;
	     !failed && it != end; it.increment(failed)) {
		const std::string file = it->path().filename().string();
		std::string_view rest = file;

		if (!rest.ends_with(".log"))
			continue;
		remove_suffix(rest, ".log");

		const size_t hyphen = rest.rfind('-');

		if (hyphen == rest.npos || !is_id(rest.substr(hyphen + 1)))
			continue;

		const std::string id(rest.substr(hyphen + 1));

		rest = rest.substr(0, hyphen);

		const std::string_view pod = cut(rest, '_');
		const std::string_view pod_namespace = cut(rest, '_');

		if (!pod.empty() && !pod_namespace.empty() && !rest.empty())
			entries[id] = {std::string(pod_namespace),
				       std::string(pod), std::string(rest), ""};
	}
	if (failed)
		return uncore::error{
			errc::system,
			fmt::format("{}: {}", source_.where, failed.message())};
	return entries;
}

uncore::result<container_names::names> container_names::read_list() const
{
	const std::string &path = source_.where;
	std::error_code failed;
	const auto size = std::filesystem::file_size(path, failed);
	std::ifstream file(path, std::ios::binary);

	if (failed || !file)
		return uncore::error{
			errc::system,
			fmt::format("{}: {}", path,
				    failed ? failed.message()
					   : std::string(strerror(errno)))};
	if (size > most_bytes)
		return uncore::error{
			errc::invalid,
			fmt::format(
				"{}: more than 64 MiB, which no list of a machine's pods has",
				path)};

	return take_list({std::istreambuf_iterator<char>(file), {}});
}

/// Parse a v1.PodList; the ids of containers are in its statuses.
uncore::result<container_names::names>
container_names::take_list(const std::string &document) const
{
	using json = nlohmann::json;
	names entries;
	const json list = json::parse(document, nullptr, false);
	const auto text = [](const json &object, const char *key) {
		return object.is_object() && object.contains(key) &&
				       object[key].is_string()
			       ? object[key].get<std::string>()
			       : std::string();
	};

	if (!list.is_object() || !list.contains("items") ||
	    !list["items"].is_array())
		return uncore::error{
			errc::invalid,
			fmt::format(
				"{}: not a list of pods in JSON, as the kubelet has at /pods",
				source_.where)};
	for (const json &pod : list["items"]) {
		const json meta = pod.is_object()
					  ? pod.value("metadata", json())
					  : json();
		const json status =
			pod.is_object() ? pod.value("status", json()) : json();

		for (const char *list_name :
		     {"containerStatuses", "initContainerStatuses",
		      "ephemeralContainerStatuses"}) {
			if (!status.is_object() ||
			    !status.contains(list_name) ||
			    !status[list_name].is_array())
				continue;
			for (const json &container_status : status[list_name]) {
				std::string id =
					text(container_status, "containerID");

				// "containerd://<id>"
				id.erase(0, id.rfind('/') + 1);
				if (is_id(id))
					entries[id] = {
						text(meta, "namespace"),
						text(meta, "name"),
						text(container_status, "name"),
						text(meta, "uid")};
			}
		}
	}
	return entries;
}

/// Function of the thread: read the source when a read is requested, at least read_time
/// after the read before.
void container_names::work(const std::stop_token &end)
{
	std::unique_lock guard(lock_);

	while (wake_.wait(guard, end, [this] { return read_requested_; })) {
		read_requested_ = false;
		guard.unlock();
		// If the source cannot be read, the known names stay.
		(void)read();
		guard.lock();
		wake_.wait_for(guard, end, read_time, [] { return false; });
	}
}

/// Request a read of the source by the thread for an unknown id, unless the delay since the
/// last request for this id has not elapsed.  The caller holds lock_.
void container_names::request_read(const std::string &id)
{
	const auto now = clock::now();
	auto [position, is_new] = unnamed_.try_emplace(
		id, absent{now, now, clock::duration(read_time)});
	absent &entry = position->second;

	entry.requested = now;
	if (now >= entry.next) {
		entry.next = now + entry.delay;
		entry.delay =
			std::min<clock::duration>(2 * entry.delay, most_delay);
		read_requested_ = true;
		wake_.notify_one();
	}
	if (!worker_.joinable()) {
		sigset_t all_signals, old_mask;

		// The new thread inherits the mask of this thread.  Block all
		// signals, so that they are delivered to the main thread only.
		sigfillset(&all_signals);
		pthread_sigmask(SIG_SETMASK, &all_signals, &old_mask);
		worker_ = std::jthread(
			[this](const std::stop_token &end) { work(end); });
		pthread_sigmask(SIG_SETMASK, &old_mask, nullptr);
	}
	if (unnamed_.size() > most_unnamed) {
		std::erase_if(unnamed_, [now](const auto &candidate) {
			return now - candidate.second.requested >= unnamed_time;
		});
		if (unnamed_.size() > most_unnamed)
			unnamed_.clear();
	}
}

void container_names::add_to(container &target)
{
	if (source_.where.empty())
		return;

	const std::scoped_lock guard(lock_);
	const auto entry = names_.find(target.id);

	if (entry == names_.end()) {
		request_read(target.id);
		return;
	}
	unnamed_.erase(target.id);
	target.pod_namespace = entry->second.pod_namespace;
	target.pod = entry->second.pod;
	target.name = entry->second.name;
	if (target.pod_uid.empty())
		target.pod_uid = entry->second.pod_uid;
}

} // namespace cli
