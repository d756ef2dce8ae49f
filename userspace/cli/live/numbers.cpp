// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the numbers of uncore live from the families of samples of uncore serve.
#include "live/numbers.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <uncore/catalogue.hpp>

#include "catalogue_tables.hpp"

namespace cli {

namespace {

/// Number of past values of a cell: more than a terminal has columns.
constexpr size_t history_size = 600;

using sample_labels = decltype(sample::labels);

const std::string *label_value(const sample_labels &labels,
			       std::string_view name)
{
	for (const auto &[key, value] : labels)
		if (key == name)
			return &value;
	return nullptr;
}

bool has_labels(
	const sample &sample, int socket,
	const std::vector<std::pair<std::string_view, std::string>> &labels)
{
	const std::string *socket_label = label_value(sample.labels, "socket");

	if (!socket_label || *socket_label != std::to_string(socket))
		return false;
	return std::all_of(
		labels.begin(), labels.end(), [&](const auto &label) {
			const std::string *value =
				label_value(sample.labels, label.first);

			return value && *value == label.second;
		});
}

const family *family_named(const std::vector<family> &families,
			   std::string_view name)
{
	const auto match = std::find_if(
		families.begin(), families.end(),
		[&](const family &family) { return family.name == name; });

	return match == families.end() ? nullptr : &*match;
}

/// Divide @p dividend; NaN if the divisor is 0, negative or unknown.
double divided(double divisor, double dividend)
{
	return divisor > 0 ? dividend / divisor : std::nan("");
}

/// Remove the number of the box from the label of a row: "  channel " of "  channel 3".
std::string_view stem(std::string_view label)
{
	return label.substr(0, label.find_last_not_of("0123456789") + 1);
}

int number_of(const std::string &text)
{
	int number = 0;

	std::from_chars(text.data(), text.data() + text.size(), number);
	return number;
}

/// Get a box's share of its limit; not a number if unknown.
double share_of(const limit_use *use, const std::string &instance)
{
	if (!use)
		return std::nan("");

	const auto entry = use->each.find(unsigned(number_of(instance)));

	return entry == use->each.end() ? std::nan("") : entry->second;
}

/// Find the box type of the machine with a role and a part; empty if there is none.
std::string box_with(const collector &collector, std::string_view role,
		     std::string_view part)
{
	return collector.machine() ? std::string(uncore::catalogue_tables::of(
							 *collector.machine())
							 .box_with(role, part))
				   : "";
}

/// Is a box not measured?  The traffic of the box is then unknown.
bool is_dead(const collector &collector, std::string_view box,
	     const std::string &instance, int socket)
{
	return std::any_of(collector.down().begin(), collector.down().end(),
			   [&](const auto &entry) {
				   const auto &[pmu, package] = entry.first;

				   return package == socket &&
					  pmu->box == box &&
					  int(pmu->instance.value_or(0)) ==
						  number_of(instance);
			   });
}

} // namespace

bool live_numbers::has(std::string_view name) const
{
	return family_named(now_, name) || family_named(before_, name);
}

double live_numbers::growth(std::string_view name, int socket,
			    const label_filter &labels) const
{
	const family *now = family_named(now_, name);
	const family *before = family_named(before_, name);
	double sum = 0;
	bool matched = false;

	if (!now || !before)
		return std::nan("");
	for (const sample &current : now->samples) {
		if (!has_labels(current, socket, labels))
			continue;

		const auto previous = std::find_if(
			before->samples.begin(), before->samples.end(),
			[&](const sample &candidate) {
				return candidate.labels == current.labels;
			});

		// A new series: the begin of its count is unknown.
		if (previous == before->samples.end())
			return std::nan("");
		sum += current.value - previous->value;
		matched = true;
	}
	return matched ? sum : std::nan("");
}

std::vector<std::string> live_numbers::labels_of(std::string_view name,
						 int socket,
						 std::string_view label)
{
	std::vector<std::string> values;

	// Keep the labels of series that have ended, so that the page can show
	// their boxes as dead.
	for (const std::string &value :
	     known_labels_[{std::string(name), socket}])
		values.push_back(value);
	if (const family *now = family_named(now_, name))
		for (const sample &sample : now->samples) {
			const std::string *value =
				label_value(sample.labels, label);

			if (value && has_labels(sample, socket, {}) &&
			    std::find(values.begin(), values.end(), *value) ==
				    values.end())
				values.push_back(*value);
		}
	std::sort(values.begin(), values.end(),
		  [](const auto &a, const auto &b) {
			  return number_of(a) < number_of(b);
		  });
	known_labels_[{std::string(name), socket}] = values;
	return values;
}

live_cell &live_numbers::set_cell(live_row new_row, int socket, double value,
				  double share)
{
	auto row = std::find_if(rows_.begin(), rows_.end(),
				[&](const live_row &candidate) {
					return candidate.label == new_row.label;
				});

	if (row == rows_.end()) {
		// Insert the row behind the rows of the other boxes of its type.
		// It comes late if another socket has more boxes than the first.
		const auto sibling =
			std::find_if(rows_.rbegin(), rows_.rend(),
				     [&](const live_row &candidate) {
					     return stem(candidate.label) ==
						    stem(new_row.label);
				     });

		row = rows_.insert(sibling == rows_.rend() ? rows_.end()
							   : sibling.base(),
				   std::move(new_row));
	}

	live_cell &cell = row->sockets[socket];

	cell.value = value;
	cell.share = share;
	return cell;
}

// --- the boxes

void live_numbers::take_memory(int socket, const collector &collector,
			       const limit_uses &uses)
{
	static constexpr std::string_view traffic = "uncore_memory_bytes";
	static constexpr std::string_view clock = "uncore_memory_clock_cycles";
	const std::string box = box_with(collector, "memory", "channel");
	const double seconds = collector.interval(box, socket);
	const limit_use *memory_use = uses.find(socket, box);

	if (!has(traffic))
		return;
	set_cell({"Memory", measure::bytes, row_room::any, true, true}, socket,
		 divided(seconds, growth(traffic, socket)),
		 memory_use ? memory_use->together : std::nan(""));
	for (const char *direction : {"read", "write"})
		set_cell({fmt::format("  {}", direction), measure::bytes},
			 socket,
			 divided(seconds, growth(traffic, socket,
						 {{"direction", direction}})));

	live_cell &summary =
		set_cell({"  channels", measure::share, row_room::small},
			 socket, std::nan(""), std::nan(""));

	summary.parts.clear();
	for (const std::string &channel :
	     labels_of(traffic, socket, "channel")) {
		const bool dead = is_dead(collector, box, channel, socket);
		const double use = share_of(memory_use, channel);

		summary.parts.push_back(use);

		set_cell(
			{fmt::format("  channel {}", channel), measure::bytes,
			 row_room::large, false, true},
			socket,
			dead ? std::nan("")
			     : divided(seconds, growth(traffic, socket,
						       {{"channel", channel}})),
			use)
			.dead = dead;
	}

	const double cycles = growth(clock, socket);

	set_cell({"  throttled", measure::share, row_room::large}, socket,
		 divided(cycles,
			 growth("uncore_memory_throttled_cycles", socket)));
	set_cell({"  self-refresh", measure::share, row_room::large}, socket,
		 divided(cycles,
			 growth("uncore_memory_self_refresh_cycles", socket)));
}

void live_numbers::take_llc(int socket, const collector &collector,
			    const limit_uses &)
{
	// Xeon 7100 and 7400 have one cache without slices.
	const double slices = collector.interval(
		box_with(collector, "cache", "slice"), socket);
	const double seconds =
		slices > 0 ? slices
			   : collector.interval(
				     box_with(collector, "cache", ""), socket);
	const double lookups = growth("uncore_llc_lookups", socket);
	const double misses = growth("uncore_llc_misses", socket);
	const double remote =
		growth("uncore_llc_misses", socket, {{"memory", "remote"}});

	if (has("uncore_llc_misses"))
		set_cell({"LLC misses", measure::events, row_room::any, true,
			  false},
			 socket, divided(seconds, misses));
	if (has("uncore_llc_misses") && slices > 0)
		set_cell({"  remote", measure::events}, socket,
			 divided(seconds, remote), divided(misses, remote));
	// Lookups are the heading if misses are not counted.
	if (has("uncore_llc_misses"))
		set_cell({"  lookups", measure::events, row_room::large},
			 socket, divided(seconds, lookups));
	else if (has("uncore_llc_lookups"))
		set_cell({"LLC lookups", measure::events, row_room::any, true,
			  false},
			 socket, divided(seconds, lookups));
	if (has("uncore_llc_modified_victims"))
		set_cell({"  written back", measure::events, row_room::large},
			 socket,
			 divided(seconds, growth("uncore_llc_modified_victims",
						 socket)));
}

void live_numbers::take_links(int socket, const collector &collector,
			      const limit_uses &uses)
{
	const std::string box = box_with(collector, "link", "link");
	const std::string data = fmt::format("uncore_{}_data_bytes", box);
	const std::string clock = fmt::format("uncore_{}_clock_cycles", box);
	const double seconds = collector.interval(box, socket);
	const std::vector<std::string> links = labels_of(data, socket, "link");
	const limit_use *link_use = uses.find(socket, box);

	if (links.empty())
		return;
	set_cell({fmt::format("{} sent",
			      uncore::catalogue::of(*collector.machine())
				      .box(box)
				      ->title),
		  measure::bytes, row_room::any, true, true},
		 socket, divided(seconds, growth(data, socket)),
		 link_use ? link_use->together : std::nan(""));

	live_cell &summary =
		set_cell({"  links", measure::share, row_room::small}, socket,
			 std::nan(""), std::nan(""));

	summary.parts.clear();
	for (const std::string &link : links) {
		const label_filter labels = {{"link", link}};

		const bool dead = is_dead(collector, box, link, socket);
		const double use = share_of(link_use, link);

		summary.parts.push_back(use);

		set_cell({fmt::format("  link {}", link), measure::bytes,
			  row_room::large, false, true},
			 socket,
			 dead ? std::nan("")
			      : divided(seconds, growth(data, socket, labels)),
			 use)
			.dead = dead;
	}
	set_cell({"  shut down", measure::share, row_room::large}, socket,
		 divided(growth(clock, socket),
			 growth(fmt::format("uncore_{}_l1_cycles", box),
				socket)));
}

void live_numbers::take_pcie(int socket, const collector &collector,
			     const limit_uses &)
{
	const double seconds =
		collector.interval(box_with(collector, "io", "unit"), socket);

	if (!has("uncore_pcie_bytes"))
		return;
	for (const char *direction : {"read", "write"})
		set_cell({fmt::format("PCIe {}s", direction), measure::bytes,
			  row_room::any, true, false},
			 socket,
			 divided(seconds, growth("uncore_pcie_bytes", socket,
						 {{"direction", direction}})));
}

/// Take the front side bus of Xeon 7100 and 7400, the path of memory, QPI and
/// PCIe traffic.
void live_numbers::take_bus(int socket, const collector &collector,
			    const limit_uses &)
{
	static constexpr std::string_view busy = "uncore_bus_busy_cycles";
	const double seconds =
		collector.interval(box_with(collector, "link", "bus"), socket);
	const double clock = growth("uncore_bus_clock_cycles", socket);
	const double busy_share =
		divided(clock, growth(busy, socket, {{"agent", "any"}}));

	if (!has(busy))
		return;
	set_cell({"Bus busy", measure::share, row_room::any, true, true},
		 socket, busy_share, busy_share);
	set_cell({"  this socket", measure::share}, socket,
		 divided(clock, growth(busy, socket, {{"agent", "own"}})));
	set_cell({"  transactions", measure::events}, socket,
		 divided(seconds, growth("uncore_bus_transactions", socket)));
	set_cell({"Snoops", measure::events, row_room::any, true, false},
		 socket,
		 divided(collector.interval(box_with(collector, "", "snoops"),
					    socket),
			 growth("uncore_snoops", socket)));
}

void live_numbers::take_power(int socket, const collector &collector,
			      const limit_uses &)
{
	const double cycles = growth("uncore_pcu_clock_cycles", socket);

	if (!has("uncore_pcu_clock_cycles"))
		return;
	set_cell({"Active cores", measure::cores, row_room::any, true, false},
		 socket,
		 divided(cycles, growth("uncore_active_core_cycles", socket)));
	set_cell({"Uncore clock", measure::hertz, row_room::any, true, false},
		 socket,
		 divided(collector.interval(box_with(collector, "", "clock"),
					    socket),
			 growth("uncore_clock_cycles", socket)));
	for (const char *limit : {"power", "thermal"})
		set_cell({fmt::format("Held by {}",
				      limit[0] == 'p' ? limit : "heat"),
			  measure::share, row_room::any, true, false},
			 socket,
			 divided(cycles,
				 growth("uncore_frequency_limited_cycles",
					socket, {{"limit", limit}})));
}

// --- all numbers

void live_numbers::note_machine()
{
	const family *info = family_named(now_, "uncore");
	const family *shares =
		family_named(now_, "uncore_events_running_ratio");

	counted_ = 1;
	if (shares)
		for (const sample &sample : shares->samples)
			counted_ = std::min(counted_, sample.value);
	if (!info || info->samples.empty())
		return;

	const sample_labels &labels = info->samples.front().labels;

	if (const std::string *driver = label_value(labels, "driver");
	    driver && !driver->empty())
		driver_ = *driver;
	if (const std::string *name = label_value(labels, "machine")) {
		const auto *generation = uncore::catalogue::find(*name);

		if (generation)
			machine_ = generation->title();
	}
}

void live_numbers::take(std::vector<family> families,
			const collector &collector, const limit_uses &uses)
{
	before_ = std::move(now_);
	now_ = std::move(families);
	known_ = !before_.empty();
	note_machine();
	for (live_row &row : rows_)
		for (auto &[socket, cell] : row.sockets) {
			cell.value = cell.share = std::nan("");
			cell.dead = false;
			cell.parts.clear();
		}

	// A socket that is known but has no sample now is offline.
	offline_.clear();
	if (const family *cpus = family_named(now_, "uncore_socket_cpus")) {
		offline_ = sockets_;
		for (const sample &sample : cpus->samples) {
			const int socket = number_of(
				*label_value(sample.labels, "socket"));

			sockets_.insert(socket);
			offline_.erase(socket);
		}
	}
	// The outer loop is over box types: rows are added in this order, and the
	// rows of a box type stay together.
	for (const auto method :
	     {&live_numbers::take_memory, &live_numbers::take_llc,
	      &live_numbers::take_links, &live_numbers::take_pcie,
	      &live_numbers::take_bus, &live_numbers::take_power})
		for (const int socket : sockets_)
			(this->*method)(socket, collector, uses);
	if (!known_)
		return;
	for (live_row &row : rows_)
		for (auto &[socket, cell] : row.sockets) {
			cell.past.push_back(cell.value);
			if (cell.past.size() > history_size)
				cell.past.pop_front();
		}
}

} // namespace cli
