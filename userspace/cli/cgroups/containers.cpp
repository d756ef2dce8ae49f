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

/// How often names are read again for containers that are not known, and for
/// the same container at last.
constexpr std::chrono::seconds read_time{5}, most_delay{300};
/// Containers without names that are remembered, and for how long.
constexpr size_t most_unnamed = 1024;
constexpr std::chrono::minutes unnamed_time{10};
/// A list of pods is smaller, by far.
constexpr uintmax_t most_bytes = 64 << 20;
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

/// A pod's uid as it is written in paths: systemd has no hyphens in the middle
/// of names.
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

/// "pod<uid>", "kubepods-burstable-pod<uid>.slice"
std::string uid_in(std::string_view part)
{
	const size_t at = part.rfind("pod");

	remove_suffix(part, ".slice");
	if (at == part.npos || (at && part[at - 1] != '-'))
		return "";
	return uid_of(part.substr(at + 3));
}

/// "<id>", "cri-containerd-<id>.scope", "crio-<id>", "docker-<id>.scope",
/// "libpod-<id>.scope"; not what stands beside a container, such as
/// "crio-conmon-<id>.scope".
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

/// The text up to that, which goes with it.
std::string_view cut(std::string_view &rest, char end)
{
	const size_t at = rest.find(end);
	const std::string_view first = rest.substr(0, at);

	rest.remove_prefix(at == rest.npos ? rest.size() : at + 1);
	return first;
}

} // namespace

std::optional<container> container_of(std::string_view cgroup)
{
	container found;
	size_t begin = 0;

	// Nodes may be containers themselves, and containers may have some: the
	// last pod counts, and the first container in it.
	while (begin < cgroup.size()) {
		const size_t end =
			std::min(cgroup.find('/', begin + 1), cgroup.size());
		std::string_view part = cgroup.substr(begin, end - begin);
		const bool slash = part.starts_with('/');

		part.remove_prefix(slash);

		// With a path of systemd's for the cgroupfs driver, containerd
		// makes "<slice>:cri-containerd:<id>".
		if (const size_t colon = part.rfind(":cri-containerd:");
		    colon != part.npos && is_id(part.substr(colon + 16))) {
			found.pod_uid = uid_in(part.substr(0, colon));
			found.id = part.substr(colon + 16);
			found.cgroup = cgroup.substr(0, end);
		} else if (std::string uid = uid_in(part); !uid.empty()) {
			found = {};
			found.pod_uid = std::move(uid);
		} else if (const auto id = id_in(part);
			   !id.empty() && found.id.empty()) {
			found.id = id;
			found.cgroup = cgroup.substr(0, end);
		}
		begin = end;
	}
	if (found.id.empty())
		return std::nullopt;
	return found;
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

	const std::scoped_lock held(lock_);

	known_ = *std::move(list);
	return {};
}

/// "<pod>_<namespace>_<container>-<id>.log"
uncore::result<container_names::names> container_names::read_folder() const
{
	names found;
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
			found[id] = {std::string(pod_namespace),
				     std::string(pod), std::string(rest), ""};
	}
	if (failed)
		return uncore::error{
			errc::system,
			fmt::format("{}: {}", source_.where, failed.message())};
	return found;
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

/// A v1.PodList, of which statuses have the containers' ids.
uncore::result<container_names::names>
container_names::take_list(const std::string &from) const
{
	using json = nlohmann::json;
	names found;
	const json list = json::parse(from, nullptr, false);
	const auto text = [](const json &of, const char *key) {
		return of.is_object() && of.contains(key) && of[key].is_string()
			       ? of[key].get<std::string>()
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

		for (const char *which :
		     {"containerStatuses", "initContainerStatuses",
		      "ephemeralContainerStatuses"}) {
			if (!status.is_object() || !status.contains(which) ||
			    !status[which].is_array())
				continue;
			for (const json &one : status[which]) {
				std::string id = text(one, "containerID");

				// "containerd://<id>"
				id.erase(0, id.rfind('/') + 1);
				if (is_id(id))
					found[id] = {text(meta, "namespace"),
						     text(meta, "name"),
						     text(one, "name"),
						     text(meta, "uid")};
			}
		}
	}
	return found;
}

/// Read the source whenever that is wanted, and rest in between.
void container_names::work(const std::stop_token &end)
{
	std::unique_lock held(lock_);

	while (wake_.wait(held, end, [this] { return wanted_; })) {
		wanted_ = false;
		held.unlock();
		// A source that cannot be read now leaves the names that are
		// known.
		(void)read();
		held.lock();
		wake_.wait_for(held, end, read_time, [] { return false; });
	}
}

/// Have the source read, unless it was for this id lately.
void container_names::want(const std::string &id)
{
	const auto now = clock::now();
	auto [at, is_new] = unnamed_.try_emplace(
		id, absent{now, now, clock::duration(read_time)});
	absent &its = at->second;

	its.asked = now;
	if (now >= its.next) {
		its.next = now + its.delay;
		its.delay =
			std::min<clock::duration>(2 * its.delay, most_delay);
		wanted_ = true;
		wake_.notify_one();
	}
	if (!worker_.joinable()) {
		sigset_t all, before;

		// Signals are the other thread's.
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		worker_ = std::jthread(
			[this](const std::stop_token &end) { work(end); });
		pthread_sigmask(SIG_SETMASK, &before, nullptr);
	}
	if (unnamed_.size() > most_unnamed) {
		std::erase_if(unnamed_, [now](const auto &one) {
			return now - one.second.asked >= unnamed_time;
		});
		if (unnamed_.size() > most_unnamed)
			unnamed_.clear();
	}
}

void container_names::add_to(container &of)
{
	if (source_.where.empty())
		return;

	const std::scoped_lock held(lock_);
	const auto its = known_.find(of.id);

	if (its == known_.end()) {
		want(of.id);
		return;
	}
	unnamed_.erase(of.id);
	of.pod_namespace = its->second.pod_namespace;
	of.pod = its->second.pod;
	of.name = its->second.name;
	if (of.pod_uid.empty())
		of.pod_uid = its->second.pod_uid;
}

} // namespace cli
