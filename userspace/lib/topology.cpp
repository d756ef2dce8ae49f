// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Packages, CPUs and PMUs from sysfs.

#include <uncore/topology.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
#include <tuple>

#include <uncore/catalogue.hpp>

#include "catalogue_tables.hpp"
#include "packages.hpp"
#include "sysfs.hpp"
#include "text.hpp"

namespace uncore {

namespace {

namespace fs = std::filesystem;

constexpr size_t most_pmus = 4096;
constexpr size_t most_fields = 256;

/// Read the processor's stepping from /proc, beside @p sysfs.  The modalias does
/// not have it.
std::optional<uint64_t> read_stepping(const fs::path &sysfs)
{
	std::ifstream cpuinfo(sysfs.parent_path() / "proc/cpuinfo");
	std::string line;

	// "stepping\t: 4"
	while (std::getline(cpuinfo, line) && !line.empty())
		if (line.starts_with("stepping") && line.find(": ") != line.npos)
			return parse_number(line.substr(line.find(": ") + 2));
	return std::nullopt;
}

std::string read_generation(const fs::path &sysfs)
{
	const auto alias = read_text(sysfs / "devices/system/cpu/modalias");
	std::vector<processor> candidates;

	if (alias)
		std::copy_if(processor::all.begin(), processor::all.end(),
			     std::back_inserter(candidates),
			     [&](const processor &candidate) {
				     return alias->find(candidate.modalias) !=
					    alias->npos;
			     });
	return std::string(processor::choose(
		candidates, list_folder(sysfs / "bus/event_source/devices"),
		read_stepping(sysfs)));
}

bool printable(const std::string &name)
{
	return std::none_of(name.begin(), name.end(), is_control);
}

/// Find the box type at the end of a name; empty if the catalogue has none.
/// The names of box types can contain _, as those of prefixes.
std::string_view box_at_end(std::string_view name, const catalogue &names)
{
	std::string_view longest;

	for (const box_info &box : names.boxes())
		if (box.name.size() > longest.size() &&
		    name.size() > box.name.size() && name.ends_with(box.name) &&
		    name[name.size() - box.name.size() - 1] == '_')
			longest = box.name;
	return longest;
}

/// Split a PMU's name into prefix, box and instance.
void split_name(pmu_info &pmu, const catalogue &names)
{
	std::string_view rest = pmu.name;
	const size_t last = rest.rfind('_');

	if (last != rest.npos && last + 1 < rest.size() &&
	    std::all_of(rest.begin() + last + 1, rest.end(), is_digit)) {
		const auto number = parse_number(rest.substr(last + 1));

		if (number && *number <= UINT16_MAX) {
			pmu.instance = static_cast<unsigned>(*number);
			rest = rest.substr(0, last);
		}
	}
	const std::string_view box = box_at_end(rest, names);
	const size_t end = !box.empty() ? rest.size() - box.size() - 1
			   // Box types that the catalogue does not have.
			   : rest.starts_with("uncore_") ? rest.find('_')
							 : rest.rfind('_');
	if (end == rest.npos)
		return;
	pmu.prefix = rest.substr(0, end);
	pmu.box = rest.substr(end + 1);
}

/// Check whether a PMU's events folder has names of the catalogue, as
/// xeon_uncore puts there.  Only names with a dot count: intel_uncore has three
/// iMC events, with names without a dot.
bool has_catalogue_names(const pmu_info &pmu, const catalogue &names)
{
	for (const std::string &name : list_folder(pmu.folder / "events")) {
		const event_info *event = names.event(pmu.box, name);

		if (event && name.find('.') != name.npos)
			return true;
	}
	return false;
}

/// Identify a PMU's driver.
/// @param loaded xeon_uncore is loaded, which excludes intel_uncore.
pmu_driver find_driver(const pmu_info &pmu, const catalogue &names, bool loaded)
{
	const bool is_listed = names.box(pmu.box);

	if (is_listed && !pmu.prefix.empty() && pmu.prefix != "uncore")
		return pmu_driver::xeon_uncore;
	if (is_listed && (loaded || has_catalogue_names(pmu, names)))
		return pmu_driver::xeon_uncore;
	return pmu.prefix == "uncore" && !pmu.box.empty()
		       ? pmu_driver::intel_uncore
		       : pmu_driver::other;
}

/// Reads the format folders of PMUs.  The boxes of a type have one format, so that the files
/// of the first box are enough: most of the files of a machine with many boxes.
class format_reader {
public:
	/// @param pmu with prefix and box, where it has them
	std::vector<format_field> read(const pmu_info &pmu)
	{
		const fs::path folder = pmu.folder / "format";
		std::vector<std::string> names = list_folder(folder);

		if (pmu.box.empty())
			return read_files(folder, names);

		const auto [entry, is_new] = known_.try_emplace(
			std::tuple(pmu.prefix, pmu.box, std::move(names)));

		if (is_new)
			entry->second = read_files(folder, std::get<2>(entry->first));
		return entry->second;
	}

private:
	static std::vector<format_field>
	read_files(const fs::path &folder, const std::vector<std::string> &names)
	{
		std::vector<format_field> fields;

		for (const std::string &name : names) {
			const auto text = read_text(folder / name);
			auto field = text ? parse_format(name, *text) : std::nullopt;

			if (field && printable(name) && fields.size() < most_fields)
				fields.push_back(std::move(*field));
		}
		return fields;
	}

	/// By prefix, box and names of the files
	std::map<std::tuple<std::string, std::string, std::vector<std::string>>,
		 std::vector<format_field>>
		known_;
};

std::optional<pmu_info> read_pmu(const fs::path &folder,
				 const std::string &name,
				 const catalogue &names, bool loaded,
				 format_reader &formats)
{
	const auto type = read_text(folder / "type");
	const auto number = type ? parse_number(*type) : std::nullopt;
	pmu_info pmu;

	if (!number || *number >= UINT32_MAX)
		return std::nullopt;
	pmu.name = name;
	pmu.folder = folder;
	pmu.type = static_cast<uint32_t>(*number);
	const auto mask = read_text(folder / "cpumask");
	if (mask) {
		auto cpus = parse_cpu_list(*mask);

		if (!cpus)
			return std::nullopt;
		pmu.cpus = std::move(*cpus);
	}
	split_name(pmu, names);
	pmu.formats = formats.read(pmu);
	pmu.driver = find_driver(pmu, names, loaded);
	if (pmu.driver == pmu_driver::other) {
		pmu.prefix.clear();
		pmu.box.clear();
		pmu.instance.reset();
	}
	// A PMU without the file cpumask counts on every CPU.  An empty cpumask
	// means that the boxes of all packages are dead: leave the PMU out.
	if (pmu.cpus.empty() && (mask || pmu.driver != pmu_driver::other))
		return std::nullopt;
	return pmu;
}

} // namespace

struct topology::description {
	std::vector<package> packages;
	std::vector<pmu_info> pmus;
	std::vector<pmu_info> others;
	std::string generation;
};

topology::topology(std::shared_ptr<const description> machine)
	: known_(std::move(machine))
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
	// An empty sysfs is not mounted, as after chroot(2).
	if (fs::is_empty(sysfs, err))
		return error{errc::system, "nothing is in " +
						   quote(sysfs.string()) +
						   ": mount sysfs there"};
	machine->generation = read_generation(sysfs);
	machine->packages = read_packages(sysfs);
	const catalogue *own = catalogue::find(machine->generation);
	const catalogue &names = own ? *own : catalogue::standard();
	const bool loaded = fs::is_directory(sysfs / "module/xeon_uncore", err);
	format_reader formats;

	for (const std::string &name : list_folder(devices)) {
		if (machine->pmus.size() + machine->others.size() == most_pmus)
			break;
		if (!printable(name))
			continue;
		auto pmu = read_pmu(devices / name, name, names, loaded, formats);
		if (!pmu)
			continue;
		auto &list = pmu->driver == pmu_driver::other ? machine->others
							      : machine->pmus;
		list.push_back(std::move(*pmu));
	}
	std::sort(machine->pmus.begin(), machine->pmus.end(),
		  [](const pmu_info &a, const pmu_info &b) {
			  return std::tie(a.prefix, a.box, a.instance) <
				 std::tie(b.prefix, b.box, b.instance);
		  });
	// The processor's model did not give a generation: take it from the
	// prefix of a PMU, which by default is the generation.
	for (const pmu_info &pmu : machine->pmus)
		if (machine->generation.empty() && catalogue::find(pmu.prefix))
			machine->generation = pmu.prefix;
	return topology(std::move(machine));
}

std::string_view processor::choose(std::span<const processor> model,
				   std::span<const std::string> pmus,
				   std::optional<uint64_t> stepping)
{
	for (const processor &candidate : model) {
		const std::string prefix = std::string(candidate.generation) + '_';

		if (candidate.steppings == every_stepping ||
		    std::any_of(pmus.begin(), pmus.end(),
				[&](const std::string &name) {
					return name.starts_with(prefix);
				}))
			return candidate.generation;
	}
	for (const processor &candidate : model)
		if (stepping && *stepping < 16 &&
		    candidate.steppings >> *stepping & 1)
			return candidate.generation;
	return {};
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
		for (const pmu_info &pmu : *list)
			if (pmu.name == name)
				return &pmu;
	return nullptr;
}

std::vector<const pmu_info *> topology::match(std::string_view pattern) const
{
	const bool wild = pattern.find_first_of("*?") != pattern.npos;
	std::vector<const pmu_info *> matches;

	for (const pmu_info &pmu : known_->pmus) {
		const std::string_view name = pmu.name;
		const std::string_view bare =
			name.substr(pmu.prefix.size() + 1);
		const bool fits =
			wild ? match_pattern(pattern, name) ||
					match_pattern(pattern, bare)
			     : pattern == name || pattern == bare ||
					pattern == pmu.box ||
					pattern == pmu.prefix + '_' + pmu.box;

		if (fits)
			matches.push_back(&pmu);
	}
	return matches;
}

std::vector<int> topology::cpus() const
{
	std::vector<int> list;

	for (const package &socket : known_->packages)
		list.insert(list.end(), socket.cpus.begin(), socket.cpus.end());
	std::sort(list.begin(), list.end());
	return list;
}

int topology::package_of(int cpu) const
{
	const package *socket = find_package(known_->packages, cpu);

	return socket ? socket->id : -1;
}

} // namespace uncore
