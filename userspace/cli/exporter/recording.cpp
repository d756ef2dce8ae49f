// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter/recording.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/cli.hpp"
#include "exporter/die_map.hpp"
#include "exporter/limits.hpp"

namespace cli {

using json = nlohmann::ordered_json;
using uncore::errc;

namespace {

/// A browser has to hold all of it: some ten hours of a machine of two sockets.
constexpr uintmax_t most_bytes = 128 << 20;
constexpr size_t most_boxes = 4096, most_counters = 16384;

std::string key_of(int socket, std::string_view event)
{
	return fmt::format("{} {}", socket, event);
}

std::string key_of(const box_count &one)
{
	return key_of(one.package,
		      fmt::format("{}/{}/", one.pmu->name, one.event->event));
}

} // namespace

// --- written

uncore::result<recorder> recorder::create(const std::string &path)
{
	auto file = output_file::open(path);

	if (!file)
		return file.error();
	return recorder(*std::move(file));
}

/// Each line is in the file before the next second, whatever happens then.
void recorder::write(const std::string &line)
{
	file_.write(line + '\n');
	file_.flush();
}

void recorder::begin(const collector &counters)
{
	for (const box_count &one : counters.counts())
		counters_.push_back(key_of(one));

	json machine = describe(counters);

	// Whoever shows it has these, and knows better by then.
	machine.erase("limits");
	write(dump(machine, -1));
}

void recorder::add(const collector &counters,
		   std::chrono::steady_clock::time_point read_at)
{
	json made = snapshot(counters, read_at);

	if (made.contains("counts")) {
		std::unordered_map<std::string, json> now;
		const auto known = counters.counts();
		json counts = json::array();

		for (size_t i = 0; i < known.size(); i++)
			now[key_of(known[i])] = std::move(made["counts"][i]);
		for (const std::string &key : counters_)
			counts.push_back(now[key]);
		made["counts"] = std::move(counts);
	}
	made.erase("revision");
	made.erase("instance");
	write(dump(made, -1));
	snapshots_++;
}

uncore::result<void> recorder::end()
{
	write(dump({{"end", true}, {"snapshots", snapshots_}}, -1));
	return file_.commit();
}

// --- read

namespace {

bool is_text(const json &of, const char *name)
{
	return of.is_object() && of.contains(name) && of[name].is_string();
}

bool is_number(const json &of, const char *name)
{
	return of.is_object() && of.contains(name) && of[name].is_number();
}

bool is_index(const json &of, const char *name, size_t end)
{
	return of.is_object() && of.contains(name) &&
	       of[name].is_number_unsigned() && of[name].get<size_t>() < end;
}

bool is_list(const json &of, const char *name, size_t most)
{
	return of.is_object() && of.contains(name) && of[name].is_array() &&
	       of[name].size() <= most;
}

bool is_box(const json &one)
{
	return is_number(one, "socket") && is_text(one, "pmu") &&
	       is_text(one, "box") && is_text(one, "title");
}

bool is_counter(const json &one, size_t boxes, size_t series)
{
	return is_index(one, "box", boxes) && is_text(one, "event") &&
	       is_index(one, "series", series) && is_number(one, "factor") &&
	       is_number(one, "most") && one.contains("labels") &&
	       one["labels"].is_object();
}

/// Can the page draw a machine from that?
bool is_machine(const json &of)
{
	if (!of.contains("machine") || !of["machine"].is_object() ||
	    !is_list(of, "sockets", 64) || !is_list(of, "boxes", most_boxes) ||
	    !is_list(of, "series", 256) ||
	    !is_list(of, "counters", most_counters))
		return false;

	const auto all = [](const json &list, auto &&good) {
		return std::all_of(list.begin(), list.end(), good);
	};

	return all(of["sockets"],
		   [](const json &one) { return is_number(one, "id"); }) &&
	       all(of["boxes"], is_box) &&
	       all(of["series"],
		   [](const json &one) {
			   return is_text(one, "name") && is_text(one, "unit");
		   }) &&
	       all(of["counters"], [&of](const json &one) {
		       return is_counter(one, of["boxes"].size(),
					 of["series"].size());
	       });
}

/// A snapshot that comes after the one before, with a count or null for each
/// counter, or with a problem instead.
bool is_snapshot(const json &one, size_t counters, double &seconds)
{
	if (!is_number(one, "seconds") || !is_number(one, "time") ||
	    one["seconds"].get<double>() <= seconds)
		return false;
	if (!is_text(one, "problem")) {
		if (!one.contains("counts") || !one["counts"].is_array() ||
		    one["counts"].size() != counters)
			return false;
		for (const json &count : one["counts"])
			if (!count.is_number() && !count.is_null())
				return false;
	}
	if (one.contains("shared") && !one["shared"].is_object())
		return false;
	seconds = one["seconds"];
	return true;
}

/// Those of an object's parts that have no parts: what else there is may be
/// as deep as it likes, and is not looked at.
json only(const json &of, std::initializer_list<const char *> names)
{
	json made = json::object();

	for (const char *name : names)
		if (of.contains(name) && of[name].is_primitive())
			made[name] = of[name];
	return made;
}

json only_all(const json &list, std::initializer_list<const char *> names)
{
	json made = json::array();

	for (const json &one : list)
		made.push_back(only(one, names));
	return made;
}

/// What the page knows of a machine.
json known_of(const json &header)
{
	json made = only(header, {"format", "version", "program"});

	made["machine"] =
		only(header["machine"],
		     {"host", "model", "generation", "title", "driver"});
	made["sockets"] = only_all(header["sockets"],
				   {"id", "cpus", "pcie_bytes_per_second"});
	made["boxes"] = only_all(header["boxes"],
				 {"socket", "pmu", "box", "title", "number"});
	made["series"] = only_all(header["series"], {"name", "unit", "help"});
	made["counters"] =
		only_all(header["counters"],
			 {"box", "event", "series", "factor", "most"});
	made["limits"] = limits_of(
		is_text(made["machine"], "generation")
			? made["machine"]["generation"].get<std::string>()
			: "");
	for (size_t i = 0; i < made["counters"].size(); i++) {
		json &labels = made["counters"][i]["labels"] = json::object();

		for (const auto &[name, value] :
		     header["counters"][i]["labels"].items())
			if (value.is_string())
				labels[name] = value;
	}
	return made;
}

std::string text_of(const json &machine, const char *name)
{
	return is_text(machine, name) ? machine[name].get<std::string>() : "";
}

/// Of what it was recorded on, where that is not this machine.
std::string foreign(const json &machine)
{
	const std::string generation = text_of(machine, "generation");
	const json here = describe_host(generation);

	for (const char *name : {"host", "model"})
		if (text_of(machine, name) != text_of(here, name))
			return fmt::format(
				"it was recorded on another machine: "
				"{}, {}",
				text_of(machine, "host"),
				text_of(machine, "model"));
	return "";
}

uncore::error no_recording(const std::string &path, const char *why)
{
	return {errc::invalid,
		fmt::format("{}: {}; 'uncore record --series FILE' makes "
			    "recordings",
			    path, why)};
}

/// Goes through a file's lines.
class reader {
public:
	uncore::result<recording> read(std::istream &file,
				       const std::string &path);

private:
	void take(const std::string &line, bool whole);
	void conclude(const std::string &path);

	recording made_;
	json topology_;
	double seconds_ = -1;
	size_t damaged_ = 0;
	bool ended_ = false, partial_ = false;
};

void reader::take(const std::string &line, bool whole)
{
	const json one = json::parse(line, nullptr, false);

	if (one.is_object() && one.contains("end")) {
		ended_ = whole;
		return;
	}
	if (!is_snapshot(one, topology_["counters"].size(), seconds_)) {
		// The last one may just not have been written to its end.
		if (whole)
			damaged_++;
		else
			partial_ = true;
		return;
	}
	made_.snapshots += line;
	made_.snapshots += '\n';
	made_.count++;
}

void reader::conclude(const std::string &path)
{
	auto &say = made_.notices;
	const json &version = topology_["version"];

	if (!version.is_number() || version.get<double>() > series_version)
		say.push_back("a newer version of uncore has written it: what "
			      "is known of it is shown");
	if (std::string of = foreign(topology_["machine"]); !of.empty())
		say.push_back(std::move(of));
	if (!ended_)
		say.push_back(fmt::format("it is cut short{}: what there is is "
					  "shown",
					  partial_ ? ", within a line" : ""));
	if (damaged_)
		say.push_back(fmt::format("{} line{} damaged and left out",
					  damaged_,
					  damaged_ == 1 ? " is" : "s are"));
	if (!made_.count)
		say.push_back("there are no counts in it");
	topology_["replay"] = {
		{"file", std::filesystem::path(path).filename().string()},
		{"snapshots", made_.count},
		{"notices", say}};
	made_.topology = dump(topology_, -1);
}

uncore::result<recording> reader::read(std::istream &file,
				       const std::string &path)
{
	std::string line;

	std::getline(file, line);
	topology_ = json::parse(line, nullptr, false);
	if (!is_text(topology_, "format") ||
	    topology_["format"] != series_format ||
	    !is_number(topology_, "version"))
		return no_recording(path, "it is no recording");
	if (!is_machine(topology_))
		return no_recording(path, "its first line, which has the "
					  "machine, is damaged");
	topology_ = known_of(topology_);
	while (std::getline(file, line))
		if (!line.empty())
			take(line, !file.eof());
	if (file.bad())
		return uncore::error{
			errc::system,
			fmt::format("{}: {}", path, strerror(errno))};
	conclude(path);
	return std::move(made_);
}

} // namespace

uncore::result<recording> recording::read(const std::string &path)
{
	std::error_code failed;
	const auto size = std::filesystem::file_size(path, failed);

	if (failed)
		return uncore::error{
			errc::system,
			fmt::format("{}: {}", path, failed.message())};
	if (size > most_bytes)
		return no_recording(path, "it has more than 128 MiB, which no "
					  "page can show");

	std::ifstream file(path, std::ios::binary);

	if (!file)
		return uncore::error{
			errc::system,
			fmt::format("{}: {}", path, strerror(errno))};

	return reader().read(file, path);
}

} // namespace cli
