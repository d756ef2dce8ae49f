// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter/memory_peaks.hpp"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "output/document.hpp"
#include "output/machine.hpp"
#include "process/input_file.hpp"
#include "process/output_file.hpp"
#include "process/user_folder.hpp"
#include "text.hpp"

namespace cli {

using json = nlohmann::ordered_json;
using uncore::errc;
using uncore::error;

namespace {

constexpr size_t largest_file = 1 << 20; ///< in bytes
constexpr const char *system_folder = "/var/lib/uncore";
constexpr const char *file_name = "memory-peaks.json";

/// Return the folder of this user's file; "" without a home.
std::string own_folder()
{
	return geteuid() ? user_folder("XDG_STATE_HOME", ".local/state")
			 : system_folder;
}

std::string path_in(const std::string &folder)
{
	return fmt::format("{}/{}", folder, file_name);
}

bool exists(const std::string &path)
{
	return !access(path.c_str(), F_OK);
}

/// Read a file: an object with the document of each host.
uncore::result<json> read_hosts(const std::string &path)
{
	const auto text = read_file(path, largest_file);

	if (!text)
		return error{text.error().code,
			     fmt::format("{}: {}", path, text.error().message)};

	json hosts = json::parse(*text, nullptr, false);

	if (!hosts.is_object())
		return error{errc::invalid,
			     fmt::format("{}: not a file of uncore diagnose --calibrate: "
					 "remove it, and measure again",
					 path)};
	return hosts;
}

std::map<int, double> peaks_in(const json &document)
{
	std::map<int, double> sockets;

	for (const json &entry : document.at("memory_peaks"))
		sockets[entry.at("socket").get<int>()] = entry.at("value").get<double>();
	return sockets;
}

/// Check that peaks are of this processor and of its sockets.
bool are_of(const std::map<int, double> &sockets, const json &document,
	    const uncore::topology &machine)
{
	const auto packages = machine.packages();

	return document.at("generation") == machine.generation() &&
	       std::all_of(sockets.begin(), sockets.end(), [&](const auto &entry) {
		       return entry.second > 0 &&
			      std::any_of(packages.begin(), packages.end(),
					  [&](const uncore::package &package) {
						  return package.id == entry.first;
					  });
	       });
}

} // namespace

memory_peaks memory_peaks::read(const uncore::topology &machine)
{
	memory_peaks made;

	for (const std::string &folder : {own_folder(), std::string(system_folder)}) {
		const std::string path = path_in(folder);

		if (folder.empty() || !exists(path))
			continue;

		const auto hosts = read_hosts(path);

		if (!hosts) {
			made.problems_.push_back(hosts.error().message);
			return made;
		}
		if (!hosts->contains(host_name()))
			continue;
		try {
			const json &document = (*hosts)[host_name()];

			made.sockets_ = peaks_in(document);
			if (are_of(made.sockets_, document, machine))
				return made;
		} catch (const json::exception &) {
		}
		made.sockets_.clear();
		made.problems_.push_back(
			fmt::format("{}: the peaks of {} are not those of this machine: "
				    "measure again (uncore diagnose --calibrate)",
				    path, uncore::one_line(host_name())));
		return made;
	}
	return made;
}

namespace {

/// This user's file, and what it has.
struct kept_peaks {
	std::string path;
	json hosts = json::object();
};

uncore::result<kept_peaks> read_own()
{
	const std::string folder = own_folder();
	kept_peaks own{path_in(folder)};
	std::error_code failed;

	if (folder.empty())
		return error{errc::system,
			     "HOME is not set: there is no folder to keep the peaks in"};
	std::filesystem::create_directories(folder, failed);
	if (failed)
		return error{errc::system,
			     fmt::format("{}: {}", folder, failed.message())};
	if (exists(own.path)) {
		auto former = read_hosts(own.path);

		if (!former)
			return former.error();
		own.hosts = *std::move(former);
	}
	return own;
}

} // namespace

uncore::result<void> memory_peaks::check_keeping()
{
	const auto own = read_own();

	if (!own)
		return own.error();

	// Without commit() the file is as before.
	const auto file = output_file::create(own->path, 0644);

	if (!file)
		return file.error();
	return {};
}

uncore::result<std::string> memory_peaks::keep(const json &document)
{
	auto own = read_own();

	if (!own)
		return own.error();
	own->hosts[document.at("host").get<std::string>()] = document;

	auto file = output_file::create(own->path, 0644);

	if (!file)
		return file.error();
	file->write(dump(own->hosts, 1) + '\n');
	if (auto written = file->commit(); !written)
		return written.error();
	return own->path;
}

std::optional<double> memory_peaks::of(int socket) const
{
	const auto entry = sockets_.find(socket);

	if (entry == sockets_.end())
		return std::nullopt;
	return entry->second;
}

bool memory_peaks::is_complete(const uncore::topology &machine) const
{
	const auto packages = machine.packages();

	return !packages.empty() &&
	       std::all_of(packages.begin(), packages.end(),
			   [this](const uncore::package &package) {
				   return of(package.id).has_value();
			   });
}

} // namespace cli
