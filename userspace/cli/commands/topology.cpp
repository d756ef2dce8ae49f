// SPDX-License-Identifier: GPL-2.0-or-later
// uncore topology: sockets, CPUs, boxes and the PMUs of the boxes, PCIe devices of stacks and
// ends of links.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <uncore/catalogue.hpp>
#include <uncore/topology.hpp>

#include "commands/commands.hpp"
#include "output/csv.hpp"
#include "output/document.hpp"
#include "output/machine.hpp"
#include "output/message.hpp"
#include "output/table.hpp"
#include "places/pci_names.hpp"
#include "places/places.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

/// PMUs that have one row in the table: consecutive PMUs with the same box type, name
/// prefix and CPUs.
struct run {
	const uncore::pmu_info *first = nullptr, *last = nullptr;
	size_t count = 0;
};

std::vector<run> runs_of(std::span<const uncore::pmu_info> pmus)
{
	std::vector<run> runs;

	for (const auto &pmu : pmus) {
		const bool same = !runs.empty() &&
				  runs.back().last->box == pmu.box &&
				  runs.back().last->prefix == pmu.prefix &&
				  runs.back().last->cpus == pmu.cpus;

		if (!same)
			runs.push_back({&pmu, &pmu, 0});
		runs.back().last = &pmu;
		runs.back().count++;
	}
	return runs;
}

/// Return "hswep_cbox_0..17", or the name of a single box.
std::string names_of(const run &boxes)
{
	if (boxes.count == 1)
		return boxes.first->name;
	return fmt::format("{}..{}", boxes.first->name,
			   boxes.last->instance.value_or(0));
}

std::string types_of(const run &boxes)
{
	if (boxes.count == 1)
		return std::to_string(boxes.first->type);
	if (boxes.last->type - boxes.first->type == boxes.count - 1)
		return fmt::format("{}-{}", boxes.first->type,
				   boxes.last->type);
	return fmt::format("{}, ...", boxes.first->type);
}

/// Return a socket's number; "offline" for a socket without online CPUs.
std::string socket_of(std::optional<int> socket)
{
	return socket ? std::to_string(*socket) : "offline";
}

/// "0000:17:00.0 Intel Corporation Ethernet Controller XL710", or "... [8086:1583]" for a
/// device without a name.
std::string text_of(const pci_device &device, pci_names &names)
{
	return fmt::format("{} {}", device.address,
			   names.find(device).value_or("[" + device.id() + "]"));
}

/// Add the devices behind a port to a list, also the devices behind a switch, but not the
/// switch.
void add_ends(std::vector<const pci_device *> &ends, const pci_device &port)
{
	for (const pci_device &device : port.behind)
		if (device.bridge)
			add_ends(ends, device);
		else
			ends.push_back(&device);
}

void print_stacks(const std::vector<io_stack> &stacks)
{
	table rows({{"STACK"}, {"SOCKET"}, {"BUS"}, {"PART"}, {"ROOT PORT"}, {"DEVICES"}});
	pci_names names;

	for (const io_stack &stack : stacks) {
		std::vector<std::string> row = {stack.pmu->name, socket_of(stack.socket),
						stack.bus};

		if (stack.ports.empty())
			rows.add(row);
		for (const root_port &port : stack.ports) {
			std::vector<const pci_device *> ends;

			row.resize(3);
			row.insert(row.end(),
				   {std::to_string(port.part), port.device.address});
			add_ends(ends, port.device);
			if (ends.empty())
				rows.add(row);
			for (const pci_device *end : ends) {
				row.resize(5);
				row.push_back(text_of(*end, names));
				rows.add(row);
				row.assign(5, "");
			}
			row.assign(3, "");
		}
	}
	rows.print(stdout);
}

void print_links(const std::vector<socket_link> &links)
{
	table rows({{"LINK"}, {"SOCKET"}, {"ENDS AT"}});

	for (const socket_link &link : links)
		rows.add({link.pmu->name, socket_of(link.socket),
			  fmt::format("socket {}, {}", socket_of(link.end_socket),
				      link.end ? link.end->name : "no PMU")});
	rows.print(stdout);
}

void print_human(const uncore::topology &machine, const places &known)
{
	const auto &catalogue = uncore::catalogue::of(machine);
	table packages({{"SOCKET"}, {"CPUS", table::align::right}, {"ONLINE"}});

	for (const auto &package : machine.packages())
		packages.add({std::to_string(package.id),
			      std::to_string(package.cpus.size()),
			      cpu_list(package.cpus)});
	packages.print(stdout);
	if (machine.pmus().empty())
		return;

	table boxes({{"BOX"},
		     {"COUNT", table::align::right},
		     {"PMUS"},
		     {"TYPES"},
		     {"COUNTERS", table::align::right},
		     {"COUNTED ON CPUS"}});
	fmt::print("\n");
	for (const run &row : runs_of(machine.pmus())) {
		const auto *info = catalogue.box(row.first->box);

		boxes.add({std::string(info ? info->title : row.first->box),
			   std::to_string(row.count), names_of(row),
			   types_of(row),
			   info ? std::to_string(info->counters) : "",
			   cpu_list(row.first->cpus)});
	}
	boxes.print(stdout);
	if (!known.stacks.empty()) {
		fmt::print("\n");
		print_stacks(known.stacks);
	}
	if (!known.links.empty()) {
		fmt::print("\n");
		print_links(known.links);
	}
}

void print_csv(const uncore::topology &machine)
{
	fmt::print("pmu,box,instance,driver,type,cpus\n");
	for (const auto &pmu : machine.pmus())
		fmt::print(
			"{}",
			csv_line({pmu.name, pmu.box,
				  pmu.instance ? std::to_string(*pmu.instance)
					       : "",
				  driver_name(pmu.driver),
				  std::to_string(pmu.type),
				  cpu_list(pmu.cpus)}));
}

json bits_of(const uncore::format_field &field)
{
	json bits = json::array();

	for (const auto &range : field.bits)
		bits.push_back({range.low, range.high});
	return bits;
}

json describe(const uncore::pmu_info &pmu)
{
	json fields = json::array();

	for (const auto &field : pmu.formats)
		fields.push_back({{"name", field.name},
				  {"word", field.word},
				  {"bits", bits_of(field)}});
	return {{"pmu", pmu.name},
		{"box", pmu.box},
		{"instance",
		 pmu.instance ? json(*pmu.instance) : json(nullptr)},
		{"prefix", pmu.prefix},
		{"driver", driver_name(pmu.driver)},
		{"type", pmu.type},
		{"cpus", pmu.cpus},
		{"fields", std::move(fields)}};
}

json number_of(std::optional<int> socket)
{
	return socket ? json(*socket) : json(nullptr);
}

json describe(const pci_device &device, pci_names &names)
{
	const auto name = names.find(device);
	json behind = json::array();

	for (const pci_device &inner : device.behind)
		behind.push_back(describe(inner, names));
	return {{"address", device.address},
		{"id", device.id()},
		{"name", name ? json(*name) : json(nullptr)},
		{"bridge", device.bridge},
		{"behind", std::move(behind)}};
}

json describe(const io_stack &stack, pci_names &names)
{
	json ports = json::array();

	for (const root_port &port : stack.ports)
		ports.push_back({{"part", port.part},
				 {"device", describe(port.device, names)}});
	return {{"pmu", stack.pmu->name},
		{"socket", number_of(stack.socket)},
		{"bus", stack.bus},
		{"ports", std::move(ports)}};
}

json describe(const socket_link &link)
{
	return {{"pmu", link.pmu->name},
		{"socket", number_of(link.socket)},
		{"end_pmu", link.end ? json(link.end->name) : json(nullptr)},
		{"end_socket", number_of(link.end_socket)}};
}

void print_json(const uncore::topology &machine, const places &known)
{
	json packages = json::array(), pmus = json::array();
	json stacks = json::array(), links = json::array();
	pci_names names;

	for (const auto &package : machine.packages())
		packages.push_back(
			{{"socket", package.id}, {"cpus", package.cpus}});
	for (const auto &pmu : machine.pmus())
		pmus.push_back(describe(pmu));
	for (const io_stack &stack : known.stacks)
		stacks.push_back(describe(stack, names));
	for (const socket_link &link : known.links)
		links.push_back(describe(link));

	json document = begin_document("topology", &machine);

	document["sockets"] = std::move(packages);
	document["pmus"] = std::move(pmus);
	document["stacks"] = std::move(stacks);
	document["links"] = std::move(links);
	fmt::print("{}", document_line(document));
}

int topology(const context &shared, format form)
{
	const auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return fail(machine.error());
	switch (form) {
	case format::human:
		print_human(*machine, read_places(*machine, shared.sysfs));
		break;
	case format::csv:
		print_csv(*machine);
		break;
	case format::json:
		print_json(*machine, read_places(*machine, shared.sysfs));
		break;
	}
	if (machine->pmus().empty())
		note("no uncore driver is loaded ('uncore check' says what to do)");
	return success;
}

} // namespace

void add_topology(parser &app, context &shared)
{
	auto form = std::make_shared<format>(format::human);
	parser command = add_command(
		app, shared, "topology", "Show sockets, CPUs, boxes, PMUs and PCIe devices",
		[form, &shared] { return topology(shared, *form); });

	add_examples(command, "uncore topology", "uncore topology --csv");
	add_format(command, *form);
}

} // namespace cli
