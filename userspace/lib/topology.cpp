// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Packages, CPUs and PMUs from sysfs.

#include <uncore/topology.hpp>

#include <algorithm>
#include <map>
#include <system_error>
#include <tuple>

#include <uncore/catalogue.hpp>

#include "catalogue_tables.hpp"
#include "sysfs.hpp"
#include "text.hpp"

namespace uncore {

namespace {

namespace fs = std::filesystem;

constexpr size_t most_pmus = 4096;
constexpr size_t most_fields = 256;
constexpr uint64_t most_packages = 4096;

std::string read_generation(const fs::path &sysfs)
{
	const auto alias = read_text(sysfs / "devices/system/cpu/modalias");

	for (const processor &one : processor::all)
		if (alias && alias->find(one.modalias) != alias->npos)
			return std::string(one.generation);
	return {};
}

bool printable(const std::string &name)
{
	return std::none_of(name.begin(), name.end(), is_control);
}

/// The number of an entry such as "cpu12".
std::optional<uint64_t> numbered(std::string_view name, std::string_view before)
{
	if (!name.starts_with(before) || name.size() == before.size() ||
	    !is_digit(name[before.size()]))
		return std::nullopt;
	return parse_number(name.substr(before.size()));
}

/// An offline CPU has no topology folder.
std::vector<package> read_packages(const fs::path &sysfs)
{
	const fs::path folder = sysfs / "devices/system/cpu";
	std::map<int, std::vector<int>> cpus;

	for (const std::string &name : list_folder(folder)) {
		const auto cpu = numbered(name, "cpu");
		if (!cpu || !parse_cpu_list(name.substr(3)))
			continue;
		const auto text = read_text(folder / name /
					    "topology/physical_package_id");
		const auto id = text ? parse_number(*text) : std::nullopt;
		if (id && *id < most_packages)
			cpus[static_cast<int>(*id)].push_back(
				static_cast<int>(*cpu));
	}
	std::vector<package> packages;
	for (auto &[id, list] : cpus) {
		std::sort(list.begin(), list.end());
		list.erase(std::unique(list.begin(), list.end()), list.end());
		packages.push_back({id, std::move(list)});
	}
	return packages;
}

/// Finds prefix, box and instance in a PMU's name.
void split_name(pmu_info &found)
{
	std::string_view rest = found.name;
	const size_t last = rest.rfind('_');

	if (last != rest.npos && last + 1 < rest.size() &&
	    std::all_of(rest.begin() + last + 1, rest.end(), is_digit)) {
		const auto number = parse_number(rest.substr(last + 1));

		if (number && *number <= UINT16_MAX) {
			found.instance = static_cast<unsigned>(*number);
			rest = rest.substr(0, last);
		}
	}
	// The kernel's own have box names with _ on other processors.
	const size_t end =
		rest.starts_with("uncore_") ? rest.find('_') : rest.rfind('_');
	if (end == rest.npos)
		return;
	found.prefix = rest.substr(0, end);
	found.box = rest.substr(end + 1);
}

/// The kernel's own driver names 3 events of the iMC, without a dot; this
/// project's has the catalogue's names, as many as its parameter says.
bool has_catalogue_names(const pmu_info &found, const catalogue &names)
{
	for (const std::string &name : list_folder(found.folder / "events")) {
		const event_info *event = names.event(found.box, name);

		if (event && name.find('.') != name.npos)
			return true;
	}
	return false;
}

/// @p loaded: this project's driver is; the kernel's own cannot be beside it.
pmu_driver find_driver(const pmu_info &found, const catalogue &names,
		       bool loaded)
{
	const bool known = names.box(found.box);

	if (known && !found.prefix.empty() && found.prefix != "uncore")
		return pmu_driver::xeon_uncore;
	if (known && (loaded || has_catalogue_names(found, names)))
		return pmu_driver::xeon_uncore;
	return found.prefix == "uncore" && !found.box.empty()
		       ? pmu_driver::intel_uncore
		       : pmu_driver::other;
}

std::optional<pmu_info> read_pmu(const fs::path &folder,
				 const std::string &name,
				 const catalogue &names, bool loaded)
{
	const auto type = read_text(folder / "type");
	const auto number = type ? parse_number(*type) : std::nullopt;
	pmu_info found;

	if (!number || *number >= UINT32_MAX)
		return std::nullopt;
	found.name = name;
	found.folder = folder;
	found.type = static_cast<uint32_t>(*number);
	for (const std::string &field : list_folder(folder / "format")) {
		const auto text = read_text(folder / "format" / field);
		auto format = text ? parse_format(field, *text) : std::nullopt;

		if (format && printable(field) &&
		    found.formats.size() < most_fields)
			found.formats.push_back(std::move(*format));
	}
	const auto mask = read_text(folder / "cpumask");
	if (mask) {
		auto cpus = parse_cpu_list(*mask);

		if (!cpus)
			return std::nullopt;
		found.cpus = std::move(*cpus);
	}
	split_name(found);
	found.driver = find_driver(found, names, loaded);
	if (found.driver == pmu_driver::other) {
		found.prefix.clear();
		found.box.clear();
		found.instance.reset();
	}
	// An empty mask is that of a dead box; it does not stand for every CPU.
	if (found.cpus.empty() && (mask || found.driver != pmu_driver::other))
		return std::nullopt;
	return found;
}

} // namespace

struct topology::description {
	std::vector<package> packages;
	std::vector<pmu_info> pmus;
	std::vector<pmu_info> others;
	std::string generation;
};

topology::topology(std::shared_ptr<const description> known)
	: known_(std::move(known))
{
}

std::span<const package> topology::packages() const
{
	return known_->packages;
}

std::span<const pmu_info> topology::pmus() const
{
	return known_->pmus;
}

std::span<const pmu_info> topology::others() const
{
	return known_->others;
}

std::string_view topology::generation() const
{
	return known_->generation;
}

const format_field *pmu_info::field(std::string_view name) const
{
	for (const format_field &format : formats)
		if (format.name == name)
			return &format;
	return nullptr;
}

result<topology> topology::read(const fs::path &sysfs)
{
	const fs::path devices = sysfs / "bus/event_source/devices";
	auto machine = std::make_shared<description>();
	std::error_code err;

	if (!fs::is_directory(sysfs, err))
		return error{errc::system,
			     "there is no sysfs at " + quote(sysfs.string())};
	// As after chroot(2).
	if (fs::is_empty(sysfs, err))
		return error{errc::system,
			     "nothing is in " + quote(sysfs.string()) +
				     ": mount sysfs there"};
	machine->generation = read_generation(sysfs);
	machine->packages = read_packages(sysfs);
	const catalogue *own = catalogue::find(machine->generation);
	const catalogue &names = own ? *own : catalogue::standard();
	const bool loaded = fs::is_directory(sysfs / "module/xeon_uncore", err);
	for (const std::string &name : list_folder(devices)) {
		if (machine->pmus.size() + machine->others.size() == most_pmus)
			break;
		if (!printable(name))
			continue;
		auto found = read_pmu(devices / name, name, names, loaded);
		if (!found)
			continue;
		auto &list = found->driver == pmu_driver::other
				     ? machine->others
				     : machine->pmus;
		list.push_back(std::move(*found));
	}
	std::sort(machine->pmus.begin(), machine->pmus.end(),
		  [](const pmu_info &a, const pmu_info &b) {
			  return std::tie(a.prefix, a.box, a.instance) <
				 std::tie(b.prefix, b.box, b.instance);
		  });
	// This project's driver loads on the processors that it knows.
	for (const pmu_info &found : machine->pmus)
		if (machine->generation.empty() &&
		    catalogue::find(found.prefix))
			machine->generation = found.prefix;
	return topology(std::move(machine));
}

topology topology::blank(std::string_view generation)
{
	auto machine = std::make_shared<description>();

	machine->generation = generation;
	return topology(std::move(machine));
}

const pmu_info *topology::find(std::string_view name) const
{
	for (const auto *list : {&known_->pmus, &known_->others})
		for (const pmu_info &one : *list)
			if (one.name == name)
				return &one;
	return nullptr;
}

std::vector<const pmu_info *> topology::match(std::string_view pattern) const
{
	const bool wild = pattern.find_first_of("*?") != pattern.npos;
	std::vector<const pmu_info *> found;

	for (const pmu_info &one : known_->pmus) {
		const std::string_view name = one.name;
		const std::string_view bare =
			name.substr(one.prefix.size() + 1);
		const bool fits =
			wild ? match_pattern(pattern, name) ||
					match_pattern(pattern, bare)
			     : pattern == name || pattern == bare ||
					pattern == one.box ||
					pattern == one.prefix + '_' + one.box;

		if (fits)
			found.push_back(&one);
	}
	return found;
}

std::vector<int> topology::cpus() const
{
	std::vector<int> all;

	for (const package &one : known_->packages)
		all.insert(all.end(), one.cpus.begin(), one.cpus.end());
	std::sort(all.begin(), all.end());
	return all;
}

int topology::package_of(int cpu) const
{
	for (const package &one : known_->packages)
		if (std::binary_search(one.cpus.begin(), one.cpus.end(), cpu))
			return one.id;
	return -1;
}

} // namespace uncore
